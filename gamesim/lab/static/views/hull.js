// Convex hulls in the plane, and of a few points in space.

/** Return the vertices of the convex hull of points in the plane, in order (Andrew 1979). */
export function hull(points) {
  const sorted = [...new Map(points.map((point) => [point.map((one) => one.toFixed(9)).join(), point])).values()].sort(
    (a, b) => a[0] - b[0] || a[1] - b[1],
  );
  if (sorted.length < 3) return sorted;
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => {
    const kept = [];
    for (const point of list) {
      while (kept.length >= 2 && turn(kept.at(-2), kept.at(-1), point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

const minus = (a, b) => a.map((one, k) => one - b[k]);
const dotted = (a, b) => a.reduce((sum, one, k) => sum + one * b[k], 0);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const NEAR = 1e-6;

/**
 * Return the faces of the convex hull of a few points in space, each as an ordered list of vertices: every plane through
 * three points that has all others on one side. A planar set gives one face; a segment or a point gives its ends.
 */
export function faces(points) {
  const found = new Map();
  for (let i = 0; i < points.length; i += 1) {
    for (let j = i + 1; j < points.length; j += 1) {
      for (let k = j + 1; k < points.length; k += 1) {
        const normal = cross(minus(points[j], points[i]), minus(points[k], points[i]));
        const size = Math.hypot(...normal);
        if (size < NEAR) continue;
        const unit = normal.map((one) => one / size);
        const sides = points.map((point) => dotted(unit, minus(point, points[i])));
        if (sides.some((side) => side > NEAR) && sides.some((side) => side < -NEAR)) continue;
        const on = points.map((_, n) => n).filter((n) => Math.abs(sides[n]) <= NEAR);
        if (!found.has(on.join()))
          found.set(
            on.join(),
            around(
              on.map((n) => points[n]),
              unit,
            ),
          );
      }
    }
  }
  return found.size ? [...found.values()] : [points];
}

/** Sort coplanar points by their angle around the centroid. */
function around(points, unit) {
  const middle = points[0].map((_, axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
  const across = minus(points[0], middle);
  const up = cross(unit, across);
  const angle = (point) => Math.atan2(dotted(minus(point, middle), up), dotted(minus(point, middle), across));
  return [...points].sort((a, b) => angle(a) - angle(b));
}
