// Keys work whatever has the focus, except while a text is typed. Space always plays or pauses, ← and → always move by a
// round, and letters never choose in a list.

const TYPED = "input:not([type]), input[type=search], input[type=text], textarea";

/** Call `keys[name]()` for a key pressed in a place; `shift` has the actions of keys pressed with Shift. */
export function listen(keys, shift, place = window) {
  const act = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
    const { key, target } = event;
    if (target.closest(TYPED)) return null;
    if (key.startsWith("Arrow") && target.closest("canvas")) return null; // a picture that can be rotated
    const name = key.length === 1 ? key.toLowerCase() : key;
    const known = (event.shiftKey && shift[name]) || keys[name];
    return known ?? (key.length === 1 && target.closest("select") ? () => {} : null);
  };
  place.addEventListener(
    "keydown",
    (event) => {
      const found = act(event);
      if (!found) return;
      event.preventDefault();
      event.stopPropagation();
      found();
    },
    true,
  );
  place.addEventListener("keyup", (event) => event.key === " " && act(event) && event.preventDefault(), true); // no click
}
