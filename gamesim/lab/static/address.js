// The state of the page in its address: a reload, a bookmark or a link brings it back.

export function readAddress() {
  const text = location.hash.replace(/^#/, "");
  if (!text) return null;
  try {
    const state = JSON.parse(decodeURIComponent(text));
    return state !== null && typeof state === "object" && typeof state.scenario === "object" ? state : null;
  } catch {
    return null;
  }
}

export function writeAddress(state) {
  const hash = `#${encodeURIComponent(JSON.stringify(state))}`;
  if (hash !== location.hash) history.replaceState(null, "", location.pathname + location.search + hash);
}
