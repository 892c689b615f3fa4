// The connection of a page of the class: it reconnects by itself and says who is at the page.

const SLEEP = 3000; // milliseconds in the background after which a page connects again

/** Connect; `enter` returns the first message or null, `receive` gets messages, `status` the state of the connection. */
export function connect({ enter, receive, status }) {
  let socket = null;
  let wait = 300;
  let waiting = 0;
  function open() {
    socket = new WebSocket(`ws://${location.host}/live`);
    socket.onopen = () => {
      wait = 300;
      status("");
      const first = enter();
      if (first) send(first);
    };
    socket.onmessage = (event) => receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      status(event.reason || "The connection was lost; trying again …");
      waiting = setTimeout(open, wait);
      wait = Math.min(2 * wait, 3000);
    };
  }
  function send(message) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    else status("Not connected; trying again …");
  }
  let slept = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) slept = Date.now();
    else if (Date.now() - slept > SLEEP) {
      socket.onclose = null; // a phone that wakes up may hold a connection that is dead without knowing it
      socket.close();
      clearTimeout(waiting);
      open();
    }
  });
  open();
  return send;
}

/** Return a label that is not broken at its hyphens. */
export const whole = (label) => label.replaceAll("-", "\u2011");

/** Return a number with at most three significant digits. */
export const digits = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(3))));
