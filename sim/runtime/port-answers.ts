/** What a container's port says to bytes that come in: HTTP/1.1, as its image's row has it. Anything else ends the connection. */
import type { Connection } from "./processes/box.ts";

const HEAD_BYTES_MAX = 64 * 1024;

/** Text so far unread goes in; text to send comes out. Both are byte text. */
export function portAnswers(
  ask: (request: { readonly path: string; readonly method: string }) => Connection,
): (text: string) => { readonly text: string; readonly isLast: boolean } {
  let unread = "";
  let bodyLeft = 0;
  return (text) => {
    let answer = "";
    unread += text;
    for (;;) {
      const skipped = Math.min(bodyLeft, unread.length);
      bodyLeft -= skipped;
      unread = unread.slice(skipped);
      const end = unread.indexOf("\r\n\r\n");
      if (bodyLeft > 0 || end < 0) return { text: answer, isLast: unread.length > HEAD_BYTES_MAX };
      const head = unread.slice(0, end);
      unread = unread.slice(end + 4);
      const [, method, path] = /^([A-Z]+) (\S+) HTTP\/1\.[01](?:\r\n|$)/.exec(head) ?? [];
      if (method === undefined || path === undefined) return { text: answer, isLast: true };
      bodyLeft = Number(/\r\ncontent-length:\s*(\d{1,12})/i.exec(head)?.[1] ?? 0);
      const { outcome, status, body } = ask({ method, path });
      if (outcome !== "OPEN" || status === 0) return { text: answer, isLast: true };
      const shown = method === "HEAD" ? "" : body;
      answer += `HTTP/1.1 ${status} ${status < 400 ? "OK" : "Error"}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${shown}`;
      if (/\r\nconnection:\s*close/i.test(head)) return { text: answer, isLast: true };
    }
  };
}
