/** Whether anything that could be judged is there at all: asked first, and told in a sentence. */
import { type Client, headerOf, LostAnswer, mediaTypeOf } from "../client/client.ts";
import type { Answer } from "../client/exchange.ts";
import { isJsonObject } from "../client/types.ts";

const patienceMillis = 8000;

/** Why there is nothing to judge; undefined when there is. A server that only describes itself wrongly is judged. */
export async function unfitTarget(client: Client): Promise<string | undefined> {
  const discovery = await client.attempt("GET", "/api/v1", { timeoutMillis: patienceMillis });
  if (discovery instanceof LostAnswer) return explained(discovery.exchange.lost ?? "");
  if (hasField(discovery, "resources")) return undefined;
  // Packed though nobody asked for that: something is there, and is to be judged for it.
  if (discovery.status === 200 && headerOf(discovery.headers, "content-encoding") !== undefined) return undefined;
  if (discovery.status === 401) return `the credentials are not accepted: GET /api/v1 answers 401 ${shown(discovery)}`;
  const namespaces = await client.attempt("GET", "/api/v1/namespaces", {
    query: { limit: 1 },
    timeoutMillis: patienceMillis,
  });
  if (namespaces instanceof LostAnswer) return explained(namespaces.exchange.lost ?? "");
  if (hasField(namespaces, "items")) return undefined;
  if (discovery.status === 403 && namespaces.status === 403) {
    return `the credentials allow nothing: GET /api/v1 and GET /api/v1/namespaces answer 403 ${shown(discovery)}`;
  }
  return `this is no cluster API: GET /api/v1 answers ${described(discovery)}`;
}

const hasField = ({ status, json }: Answer, field: string): boolean =>
  status === 200 && isJsonObject(json) && Array.isArray(json[field]);

function described(answer: Answer): string {
  const { status, headers } = answer;
  if (/HTTP request to an? (HTTPS|TLS)/i.test(answer.text)) {
    return `${status}, for the server speaks TLS there: give the URL with https://`;
  }
  const location = headerOf(headers, "location");
  if (status >= 300 && status < 400) return `${status}, which leads to ${location ?? "nowhere"}`;
  const advice = status === 404 ? "; is the path in the URL right?" : "";
  return `${status} ${mediaTypeOf(headers) || "without a media type"} ${shown(answer)}${advice}`;
}

const shown = ({ text }: Answer): string => JSON.stringify(text.replace(/\s+/g, " ").slice(0, 80));

/** Ways in which no connection comes about, by what the machine says of them. */
const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /wrong version number|packet length too long|EPROTO/i,
    "the server does not speak TLS there: give the URL with http://",
  ],
  [/certificate has expired/i, "the server's certificate has expired"],
  [/certificate is not yet valid/i, "the server's certificate is not valid yet"],
  [/altnames|does not match certificate/i, "the server's certificate is for another name"],
  [
    /self[- ]signed|unable to (verify|get)|unknown authority/i,
    "nobody here trusts the server's certificate: give its authority with --ca-file",
  ],
  [/ENOTFOUND|EAI_AGAIN/i, "no machine has that name"],
  [/ECONNREFUSED/i, "nobody listens there"],
  [/EHOSTUNREACH|ENETUNREACH/i, "there is no way to that machine"],
  [/HPE_|Expected HTTP|Parse Error/i, "the server does not speak HTTP there: perhaps it wants https://"],
];

function explained(lost: string): string {
  const reason = reasons.find(([pattern]) => pattern.test(lost))?.[1];
  const said = lost.replace(/\s+/g, " ").slice(0, 160).trim();
  return `the target was not reached: ${reason === undefined ? said : `${reason} (${said})`}`;
}
