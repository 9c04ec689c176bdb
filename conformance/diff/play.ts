/** Plays a program on one server, in a namespace of its own, and leaves what it answered masked. */
import type { Dialect } from "../../wire/dialect.ts";
import type { Answer } from "../client/exchange.ts";
import { type Client, headerOf, LostAnswer, mediaTypeOf } from "../client/client.ts";
import { Collection } from "../client/collection.ts";
import { jsonIn, readOr, unpackedText, yamlIn } from "../client/read-bodies.ts";
import { isApiObject, isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import type { WatchStream } from "../client/watch-stream.ts";
import type { Sandbox } from "../runner/sandbox.ts";
import type { MaskedAnswer } from "./compare.ts";
import { Masking } from "./masks.ts";
import { fromDialect, type Known, type Program, resolved, type Step } from "./step.ts";

/** A step as one server met it. */
export interface Played {
  /** As it was sent; undefined when the step named what this server had not told. */
  readonly sent: Step | undefined;
  /** Undefined when nothing was asked. */
  readonly answer: MaskedAnswer | undefined;
}

/** Headers that a client acts upon. */
const comparedHeaders = [
  "content-type",
  "content-encoding",
  "www-authenticate",
  "location",
  "retry-after",
  "warning",
] as const;

/** What the second namespace's name is longer by. */
const otherSuffix = "b";

const fenceName = "zz-fence";
const fenceTimeoutMillis = 10_000;

/** Rejects with `LostAnswer`, or with what else kept the program from being played to its end. */
export async function play(client: Client, sandbox: Sandbox, dialect: Dialect, program: Program): Promise<Played[]> {
  const namespace = await sandbox.namespace();
  const known: Known = new Map([["ns", namespace]]);
  const masking = new Masking();
  // The longer name first: the other is its beginning.
  masking.rename(namespace + otherSuffix, "other namespace");
  masking.rename(namespace, "namespace");
  masking.rename(sandbox.label, "run");
  const names = new Set<string>();
  const played: Played[] = [];
  for (const [index, step] of program.entries()) {
    if (JSON.stringify(step).includes("{other}")) known.set("other", await sandbox.namespace(otherSuffix));
    const sent = resolved(step, known, dialect);
    if (sent === undefined) {
      played.push({ sent, answer: undefined });
      continue;
    }
    const answer = await ask(client, sandbox, sent, namespace);
    learn(sent, answer.body, known, names, masking);
    const body = ownOnly(neutral(answer.body, dialect), { names, namespace });
    const headers = neutral(answer.headers, dialect) as Record<string, string>;
    played.push({
      sent,
      answer: {
        status: answer.status,
        headers: masking.masked(headers, index + 1, "header") as Record<string, string>,
        body: masking.masked(body, index + 1),
      },
    });
  }
  return played;
}

interface Own {
  readonly names: ReadonlySet<string>;
  readonly namespace: string;
}

/** Names that the program itself has not used, and places that it has not made, do not count: others work there. */
function ownOnly(body: Json, { names, namespace }: Own): Json {
  const isOwn = (item: Json): boolean =>
    !isApiObject(item) ||
    (names.has(item.metadata.name) && (item.metadata.namespace ?? namespace).startsWith(namespace));
  if (Array.isArray(body)) return body.filter((event: Json) => !isJsonObject(event) || isOwn(event["object"] as Json));
  if (!isJsonObject(body)) return body;
  if (Array.isArray(body["items"])) return { ...body, items: (body["items"] as readonly Json[]).filter(isOwn) };
  if (!Array.isArray(body["rows"])) return body;
  const rows = (body["rows"] as readonly JsonObject[]).filter((row) => isOwn(row["object"] as Json));
  return { ...body, rows };
}

const neutral = (value: Json, dialect: Dialect): Json =>
  JSON.parse(fromDialect(JSON.stringify(value), dialect)) as Json;

/** What later steps may refer to. A name that the server made is not the same on another. */
function learn(sent: Step, body: Json, known: Known, names: Set<string>, masking: Masking): void {
  const named = isJsonObject(sent.body) ? sent.body["metadata"] : undefined;
  const asked = isJsonObject(named) ? named : {};
  const last = sent.path.split("/").at(-1) as string;
  for (const name of [asked["name"], sent.method === "POST" ? undefined : last]) {
    if (typeof name === "string") names.add(name);
  }
  if (!isJsonObject(body) || !isJsonObject(body["metadata"])) return;
  const { name, uid, resourceVersion, continue: token } = body["metadata"];
  if (typeof name !== "string") {
    if (typeof resourceVersion === "string" && Array.isArray(body["items"])) known.set("version", resourceVersion);
    if (typeof token === "string" && token !== "") known.set("continue", token);
    return;
  }
  names.add(name);
  if (typeof asked["generateName"] === "string" && name !== asked["name"]) {
    masking.rename(name, `name after ${asked["generateName"]}`);
  }
  if (typeof uid === "string") known.set(`uid:${name}`, uid);
  if (typeof resourceVersion === "string") known.set(`version:${name}`, resourceVersion);
}

interface Heard {
  readonly status: number;
  readonly headers: JsonObject;
  readonly body: Json;
}

async function ask(client: Client, sandbox: Sandbox, step: Step, namespace: string): Promise<Heard> {
  const { method, path, query, headers, body, as } = step;
  if (query?.["watch"] !== undefined) return follow(client, sandbox, step, namespace);
  const text = typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body);
  const options = { query, rawBody: text, headers, as };
  const answer = await awaited(client, step, () => client.request(method, path, options));
  if (answer.status < 300 && method !== "GET" && method !== "DELETE") register(sandbox, answer);
  return { status: answer.status, headers: headersOf(answer.headers), body: bodyOf(answer) };
}

const untilMillisMax = 10_000;

/** What does not come in time is compared as it is. */
async function awaited(
  client: Client,
  { until = "", untilWithout }: Step,
  request: () => Promise<Answer>,
): Promise<Answer> {
  let answer = await request();
  const isSo = (): boolean => {
    const text = JSON.stringify(answer.json ?? null);
    return text.includes(until) && (untilWithout === undefined || !text.includes(untilWithout));
  };
  if (until === "" && untilWithout === undefined) return answer;
  const deadlineMillis = client.clock.nowMillis() + untilMillisMax;
  while (!isSo() && client.clock.nowMillis() < deadlineMillis) {
    await client.pause(100);
    answer = await request();
  }
  return answer;
}

/** What belongs to no namespace goes by itself. */
function register(sandbox: Sandbox, { exchange, json }: Answer): void {
  if (!isApiObject(json)) return;
  const { path, method } = exchange.request;
  const [place = ""] = path.split("?");
  if (!place.includes("/namespaces/")) {
    const own = `${place}/${json.metadata.name}`;
    if (method === "POST" && json["kind"] === "CustomResourceDefinition") {
      sandbox.onCleanUp((cleaner) => cleaner.attempt("DELETE", own));
    }
    return;
  }
  const held = (json.metadata.finalizers ?? []).length > 0 || place.includes("/pods");
  sandbox.created(method === "POST" ? `${place}/${json.metadata.name}` : place, held);
}

const headersOf = (headers: Answer["headers"]): JsonObject =>
  Object.fromEntries(
    comparedHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(", ")]];
    }),
  );

function bodyOf({ json, text, headers, bytes }: Answer): Json {
  if (json !== undefined) return json;
  if (headerOf(headers, "content-encoding") === "gzip") return unpacked(bytes);
  if (mediaTypeOf(headers).endsWith("yaml")) return ofYaml(text);
  return /protobuf|cbor|octet/.test(mediaTypeOf(headers)) || headerOf(headers, "content-encoding") !== undefined
    ? "<binary>"
    : text;
}

/** As a document: within text, an identity would be a difference. */
function ofYaml(text: string): Json {
  const read = readOr(() => [yamlIn(text)]);
  return read === undefined ? text : (read[0] ?? null);
}

/** What a server says is packed, and is not, shows. */
function unpacked(bytes: Uint8Array): Json {
  const text = readOr(() => unpackedText(bytes));
  if (text === undefined) return "<not gzip>";
  return readOr(() => jsonIn(text)) ?? text;
}

/** What a watch tells up to an object that is written after it has begun: what has not come before it will not come. */
async function follow(client: Client, sandbox: Sandbox, { path, query }: Step, namespace: string): Promise<Heard> {
  const watch = client.watch(path, query ?? {});
  const status = await watch.opened();
  if (status === undefined) throw new LostAnswer(watch.exchange);
  const headers = headersOf(watch.headers);
  if (status !== 200) {
    await watch.untilEnded(fenceTimeoutMillis);
    return { status, headers, body: watch.refusal() ?? null };
  }
  await fence(client, sandbox, namespace);
  const told = () => watch.events.some(({ object, type }) => isFence(object) || type === "ERROR");
  const complete = await watch.until(() => told() || watch.ended !== undefined, fenceTimeoutMillis);
  const events = eventsOf(watch);
  if (watch.ended === "broken") throw new LostAnswer(watch.exchange);
  watch.close();
  if (!complete) throw new LostAnswer(Object.assign(watch.exchange, { lost: "the fence was not told in time" }));
  return { status, headers, body: events };
}

const isFence = (object: JsonObject): boolean => isApiObject(object) && object.metadata.name.startsWith(fenceName);

/** Bookmarks come when the server pleases, unless one says that the beginning is whole. */
function eventsOf(watch: WatchStream): Json[] {
  const end = watch.events.findIndex(({ object }) => isFence(object));
  return watch.events
    .slice(0, end < 0 ? undefined : end)
    .filter(({ type, object }) => type !== "BOOKMARK" || JSON.stringify(object).includes("initial-events-end"))
    .map(({ type, object }) => ({ type, object }));
}

/** With the labels that the steps' selectors ask for. */
async function fence(client: Client, sandbox: Sandbox, namespace: string): Promise<void> {
  const configMaps = new Collection(client, `/api/v1/namespaces/${namespace}/configmaps`, sandbox);
  const metadata = { generateName: `${fenceName}-`, labels: { team: "red" } };
  const answer = await configMaps.create({ apiVersion: "v1", kind: "ConfigMap", metadata });
  if (answer.status >= 300) throw new Error(`the fence was refused: ${answer.status} ${answer.text.slice(0, 200)}`);
}
