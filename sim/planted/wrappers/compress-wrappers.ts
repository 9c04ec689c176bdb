/** Planted bugs of which bodies leave packed, around what says so in a server that knows nothing of them. */
import { type Packing, shouldCompress } from "../../contract/compression.ts";
import { type Planted, type Rows, wrapped } from "./planted.ts";

export type Compress = (...asked: Parameters<typeof shouldCompress>) => Packing;

export const compressWith = (planted: Planted): Compress => wrapped(planted, rows, shouldCompress);

const rows: Rows<Compress> = {
  "gzip-unasked": (compress, shows) => (profile, request, status, bodyBytes) => {
    const asking = { ...request, headers: { ...request.headers, "accept-encoding": "gzip" } };
    return compress(profile, shows() ? asking : request, status, bodyBytes);
  },
  "gzip-packed-twice":
    (compress, shows) =>
    (...asked) =>
      compress(...asked) && (shows() ? "twice" : true),
};
