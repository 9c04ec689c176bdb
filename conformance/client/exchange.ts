import { asksForWatch } from "../../wire/asks-for-watch.ts";
import type { Json } from "./types.ts";
import { Gathered } from "../../wire/gathered.ts";
import type { WireRequest, WireResponse } from "../../wire/ports.ts";
import type { Arrival, ExchangeRecord } from "../../reports/schema/suite-report.ts";

/** How to show requests to a person: the base URL (or what stands for it) and curl's flags, quoted for a shell. */
export interface CurlStyle {
  readonly address: string;
  /** Of every line. */
  readonly flags: readonly string[];
  /** Who the run's own caller is, and as whom it acts: of the lines of its own requests. Default none. */
  readonly credentials?: readonly string[];
  readonly acting?: readonly string[];
}

/** One request and all that came back for it. Filled in as things happen; judged only afterwards. */
export class Exchange {
  readonly index: number;
  readonly request: WireRequest;
  /** Place of the sending in the one order of sendings and answers. */
  readonly began: number;
  readonly sentAtMillis: number;
  /** Place of the complete answer, of the loss, or of the cut. */
  ended: number | undefined;
  endedAtMillis: number | undefined;
  status: number | undefined;
  headers: WireResponse["headers"] = {};
  /** Why no complete answer is known; undefined while under way and when complete. */
  lost: string | undefined;
  /** Of a watch: when each document of the body was complete. */
  readonly arrivals: Arrival[] = [];
  private readonly kept = new Gathered();
  private cutBytes = 0;

  constructor(index: number, request: WireRequest, began: number, sentAtMillis: number) {
    this.index = index;
    this.request = request;
    this.began = began;
    this.sentAtMillis = sentAtMillis;
  }

  /** Keeps bytes as evidence, up to a bound: nothing is kept that comes after what was not. */
  keep(bytes: Uint8Array): void {
    if (this.cutBytes === 0 && this.kept.bytes + bytes.length <= evidenceBytesMax) this.kept.add(bytes);
    else this.cutBytes += bytes.length;
  }

  record(style: CurlStyle): ExchangeRecord {
    const { request } = this;
    return {
      index: this.index,
      began: this.began,
      ended: this.ended,
      sentAtMillis: this.sentAtMillis,
      endedAtMillis: this.endedAtMillis,
      method: request.method,
      path: request.path,
      requestHeaders: request.headers,
      requestBody: bodyText(request),
      status: this.status,
      responseHeaders: this.headers,
      responseBody: this.text(),
      ...(this.arrivals.length === 0 ? {} : { arrivals: this.arrivals }),
      lost: this.lost,
      curl: curlLine(request, style),
    };
  }

  /** The body of the answer, cut after some kilobytes. */
  text(): string {
    const decoder = new TextDecoder(); // not fatal: this is for reading
    const text =
      this.kept
        .pieces()
        .map((piece) => decoder.decode(piece, { stream: true }))
        .join("") + decoder.decode();
    return this.cutBytes === 0 ? text : `${text}…(${this.cutBytes} more bytes)`;
  }
}

const evidenceBytesMax = 64 * 1024;

/** A command line that sends the same request. Watches get `-N`, so that events show as they come. */
export function curlLine(request: WireRequest, style: CurlStyle): string {
  const words = ["curl", asksForWatch(request.path) ? "-sSN" : "-sS", ...flagsOf(request, style)];
  if (request.method !== "GET") words.push("-X", request.method);
  for (const [name, value] of Object.entries(request.headers)) {
    if (name !== "user-agent") words.push("-H", shellQuoted(`${name}: ${value}`));
  }
  const body = bodyText(request);
  const isText = typeof request.body !== "object" || isUtf8(request.body);
  if (body !== undefined) words.push("--data-binary", isText ? shellQuoted(body) : "@-");
  // The address may be `$SERVER`: it stays outside the quotes, so that a shell fills it in.
  words.push(`${style.address}${shellQuoted(request.path)}`);
  if (isText) return words.join(" ");
  return `base64 -d <<<${base64(request.body as Uint8Array)} | ${words.join(" ")}`;
}

/** What names the run's own caller does not go with another's request, nor does another's token go into a report. */
function flagsOf(request: WireRequest, { flags, credentials = [], acting = [] }: CurlStyle): readonly string[] {
  const { as } = request;
  if (as === undefined) return [...credentials, ...(saysAsWhom(request) ? [] : acting), ...flags];
  return as === "nobody" ? flags : [...flags, '-H "Authorization: Bearer $OTHER_TOKEN"'];
}

/** Whether the request itself says as whom to act: then it is not for the run to say. */
export function saysAsWhom({ headers }: WireRequest): boolean {
  return Object.keys(headers).some((name) => name.startsWith("impersonate-"));
}

function bodyText(request: WireRequest): string | undefined {
  if (request.body === undefined || typeof request.body === "string") return request.body;
  return new TextDecoder().decode(request.body);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0");
  } catch {
    return false;
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** As one word of a shell's, in one line, whatever is in it: a line that is shown indented can be pasted as it stands. */
export function shellQuoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!/[\n\r\t]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return `$'${text.replaceAll(/[\\'\n\r\t]/g, (character) => escapes[character] ?? `\\${character}`)}'`;
}

/** A complete answer. */
export interface Answer {
  readonly exchange: Exchange;
  readonly status: number;
  readonly headers: WireResponse["headers"];
  /** The body as it came, packed or not. */
  readonly bytes: Uint8Array;
  /** The body read as UTF-8. */
  readonly text: string;
  /** The body, parsed, when it is JSON. */
  readonly json: Json | undefined;
}
