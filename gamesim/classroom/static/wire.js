// The connection of a page of the class: it reconnects by itself and says who is at the page.

/** Connect; `enter` returns the first message or null, `receive` gets messages, `status` the state of the connection. */
export function connect({ enter, receive, status }) {
  let socket = null;
  let wait = 300;
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
      setTimeout(open, wait);
      wait = Math.min(2 * wait, 3000);
    };
  }
  function send(message) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    else status("Not connected; trying again …");
  }
  document.addEventListener("visibilitychange", () => {
    // A phone that wakes up may hold a dead connection.
    if (!document.hidden && socket.readyState > WebSocket.OPEN) wait = 100;
  });
  open();
  return send;
}

/** Return a number with at most three significant digits. */
export const digits = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(3))));
