// Draw a scene of faces, lines and dots in space, with WebGL2 or, if that is unavailable, on a 2D canvas.
//
// A scene is { faces: [{ points, colour, alpha }], lines: [{ points, colour, alpha, width }], dots: [{ point, colour,
// radius }] } with points in space; a colour is "#rrggbb". `matrix` is 4 × 4 in column-major order.

const FACE_VERTEX = `#version 300 es
uniform mat4 matrix; in vec3 position; void main() { gl_Position = matrix * vec4(position, 1.0); }`;
const LINE_VERTEX = `#version 300 es
uniform mat4 matrix; uniform vec2 view; uniform float width;
in vec3 a; in vec3 b; in vec2 corner;
void main() {
  vec4 from = matrix * vec4(a, 1.0), to = matrix * vec4(b, 1.0);
  vec2 along = (to.xy / to.w - from.xy / from.w) * view;
  vec2 forward = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
  vec2 aside = vec2(-forward.y, forward.x);
  vec4 end = corner.x < 0.5 ? from : to;
  vec2 shift = (aside * corner.y + forward * (corner.x * 2.0 - 1.0) * 0.4) * width / view;
  gl_Position = vec4(end.xy + shift * end.w, end.z, end.w);
}`;
const DOT_VERTEX = `#version 300 es
uniform mat4 matrix; uniform float width; in vec3 position;
void main() { gl_Position = matrix * vec4(position, 1.0); gl_PointSize = width; }`;
const FILL = `#version 300 es
precision mediump float; uniform vec4 colour; out vec4 painted;
void main() { painted = vec4(colour.rgb * colour.a, colour.a); }`;
const DISC = `#version 300 es
precision mediump float; uniform vec4 colour; out vec4 painted;
void main() {
  float edge = length(gl_PointCoord - 0.5) * 2.0;
  if (edge > 1.0) discard;
  painted = vec4(colour.rgb * colour.a, colour.a);
}`;
const CORNERS = new Float32Array([0, -1, 0, 1, 1, -1, 1, -1, 0, 1, 1, 1]);

const parts = (colour, alpha) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255).concat(alpha);

/** Return a WebGL2 renderer for a canvas, or null if WebGL2 is unavailable. */
export function webgl(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
  if (!gl) return null;
  let programs = null;
  const start = () => {
    programs = {
      face: program(gl, FACE_VERTEX, FILL),
      line: program(gl, LINE_VERTEX, FILL),
      dot: program(gl, DOT_VERTEX, DISC),
    };
    programs.buffer = gl.createBuffer();
    programs.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, programs.corners);
    gl.bufferData(gl.ARRAY_BUFFER, CORNERS, gl.STATIC_DRAW);
  };
  start();
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", start);

  const use = (shaders, matrix, colour, alpha, width, size) => {
    gl.useProgram(shaders.program);
    gl.uniformMatrix4fv(shaders.uniform("matrix"), false, matrix);
    gl.uniform4fv(shaders.uniform("colour"), parts(colour, alpha));
    if (shaders.uniform("width")) gl.uniform1f(shaders.uniform("width"), width);
    if (shaders.uniform("view")) gl.uniform2f(shaders.uniform("view"), ...size);
  };
  const upload = (numbers) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, programs.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.DYNAMIC_DRAW);
  };
  const attribute = (shaders, name, count, stride, offset, divisor) => {
    const at = gl.getAttribLocation(shaders.program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, count, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(at, divisor);
    return at;
  };
  const drawing = (shaders, names, draw) => {
    const used = names.map((one) => attribute(shaders, ...one));
    draw();
    used.forEach((at) => gl.disableVertexAttribArray(at));
  };

  return {
    draw(scene, matrix, width, height, ratio) {
      if (gl.isContextLost()) return;
      const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
      gl.viewport(0, 0, wide, high);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      for (const { points, colour, alpha } of scene.faces) {
        if (points.length < 3) continue;
        use(programs.face, matrix, colour, alpha);
        upload(points.slice(1, -1).flatMap((point, k) => [...points[0], ...point, ...points[k + 2]]));
        drawing(programs.face, [["position", 3, 0, 0, 0]], () =>
          gl.drawArrays(gl.TRIANGLES, 0, 3 * (points.length - 2)),
        );
      }
      for (const { points, colour, alpha, width: thick } of scene.lines) {
        if (points.length < 2) continue;
        use(programs.line, matrix, colour, alpha, thick * ratio, [wide, high]);
        const names = [
          ["a", 3, 12, 0, 1],
          ["b", 3, 12, 12, 1],
        ];
        upload(points.flat());
        const used = names.map((one) => attribute(programs.line, ...one));
        gl.bindBuffer(gl.ARRAY_BUFFER, programs.corners);
        drawing(programs.line, [["corner", 2, 0, 0, 0]], () =>
          gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, points.length - 1),
        );
        used.forEach((at) => gl.disableVertexAttribArray(at));
      }
      for (const { point, colour, radius } of scene.dots) {
        use(programs.dot, matrix, colour, 1, 2 * radius * ratio);
        upload(point);
        drawing(programs.dot, [["position", 3, 0, 0, 0]], () => gl.drawArrays(gl.POINTS, 0, 1));
      }
    },
    dispose() {
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}

function program(gl, vertex, fragment) {
  const linked = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(linked, shader);
  }
  gl.linkProgram(linked);
  if (!gl.getProgramParameter(linked, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(linked));
  const known = new Map();
  const uniform = (name) => {
    if (!known.has(name)) known.set(name, gl.getUniformLocation(linked, name));
    return known.get(name);
  };
  return { program: linked, uniform };
}

/** Project a point in space to CSS pixels. */
export function seen(matrix, [x, y, z], width, height) {
  const row = (k) => matrix[k] * x + matrix[4 + k] * y + matrix[8 + k] * z + matrix[12 + k];
  return [((row(0) / row(3) + 1) / 2) * width, ((1 - row(1) / row(3)) / 2) * height, row(2) / row(3)];
}

/** Draw the scene on a 2D canvas. */
export function flat(context, scene, matrix, width, height) {
  const at = (point) => seen(matrix, point, width, height);
  const trace = (points) => {
    context.beginPath();
    points.map(at).forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  };
  for (const { points, colour, alpha } of scene.faces) {
    trace(points);
    context.closePath();
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.fill();
  }
  for (const { points, colour, alpha, width: thick } of scene.lines) {
    trace(points);
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const { point, colour, radius } of scene.dots) {
    const [x, y] = at(point);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  }
}
