/**
 * The line discipline of a terminal: what is typed comes back, is gathered into lines, and some keys are signals. It holds
 * one line and nothing of what was printed.
 *
 * Simplification: always as a terminal is at first, with lines and echo; programs cannot switch that.
 */
const LINE_BYTES_MAX = 4096;

export interface TerminalPorts {
  /** To the screen, in byte text. */
  readonly print: (text: string) => void;
  /** A line with its end, or what there is of one. */
  readonly enter: (text: string) => void;
  /** Ctrl-D on an empty line. */
  readonly end: () => void;
  readonly signal: (name: "INT" | "QUIT") => void;
}

export class Terminal {
  private readonly ports: TerminalPorts;
  private line = "";

  constructor(ports: TerminalPorts) {
    this.ports = ports;
  }

  /** Keys, in byte text. */
  type(keys: string): void {
    const { print, enter, end, signal } = this.ports;
    for (const key of keys) {
      if (key === "\r" || key === "\n") {
        const line = `${this.line}\n`;
        this.line = "";
        print("\r\n");
        enter(line);
      } else if (key === "\u0003" || key === "\u001c") {
        this.line = "";
        print(key === "\u0003" ? "^C\r\n" : "^\\\r\n");
        signal(key === "\u0003" ? "INT" : "QUIT");
      } else if (key === "\u0004") {
        if (this.line === "") end();
        else enter(this.line);
        this.line = "";
      } else if (key === "\u007f" || key === "\b") {
        if (this.line !== "") print("\b \b");
        this.line = this.line.slice(0, -1);
      } else if (this.line.length < LINE_BYTES_MAX) {
        this.line += key;
        print(key < " " && key !== "\t" ? `^${String.fromCharCode(key.charCodeAt(0) + 64)}` : key);
      }
    }
  }
}

/** What a program prints, as it looks on a screen. */
export const onScreen = (text: string): string => text.replaceAll("\n", "\r\n");
