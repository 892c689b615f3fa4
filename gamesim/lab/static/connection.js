// The WebSocket connection to the server: JSON messages both ways, and binary frames.

export class Connection {
  /** `on` has one handler per kind of message, `other` for all other kinds, `frame` for binary frames, and `closed`. */
  constructor(on) {
    this.on = on;
    this.patience = 500;
    this.open();
  }

  open() {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.patience = 500;
    };
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) {
        this.on.frame(new Float32Array(data));
      } else {
        const message = JSON.parse(data);
        (this.on[message.is] ?? this.on.other)(message);
      }
    };
    socket.onclose = () => {
      this.on.closed();
      setTimeout(() => this.open(), this.patience);
      this.patience = Math.min(this.patience * 2, 8000);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
