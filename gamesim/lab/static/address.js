// Store the state of the page in its URL, so that reloads, bookmarks and links restore it.

export function readAddress() {
  const text = location.hash.replace(/^#/, "");
  if (!text) return null;
  try {
    const state = JSON.parse(decodeURIComponent(text));
    if (state === null || typeof state !== "object") return null;
    return isTable(state.scenario) || (state.scenario === undefined && typeof state.lesson === "string") ? state : null;
  } catch {
    return null;
  }
}

export function writeAddress(state) {
  const hash = `#${encodeURIComponent(JSON.stringify(state))}`;
  if (hash !== location.hash) history.replaceState(null, "", location.pathname + location.search + hash);
}

const isTable = (value) => value !== null && typeof value === "object";
