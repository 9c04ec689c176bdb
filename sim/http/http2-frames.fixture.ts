/** For tests: HTTP/2 byte by byte. */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
};
export const endOfStream = 1;
export const endOfHeaders = 4;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header that is kept in no table; name and value are shorter than 127 bytes. */
export const header = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x10, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);

export const head = (method: string, path: string): Buffer =>
  Buffer.concat([
    header(":method", method),
    header(":scheme", "http"),
    header(":path", path),
    header(":authority", "h"),
  ]);

/** How every connection begins. */
export const prefaceWith = (settings: Uint8Array = new Uint8Array()): Buffer =>
  Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameTypes.settings, 0, 0, settings)]);
