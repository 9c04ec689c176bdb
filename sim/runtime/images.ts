/** Images: what can be pulled and how it behaves, which ones are on the node, and what their names mean. */
import { prngStream } from "../kernel/prng.ts";
import type { Micros } from "../kernel/types.ts";
import type { Image } from "../../wire/cri-messages.ts";
import type { UsageModel } from "./usage-model.ts";

/** How an image is, as far as containers can tell. Every field but the name has a default, see `defaultBehaviour`. */
export interface ImageRow {
  /** A reference, or one with a trailing `*`. The first row that matches counts. */
  readonly name: string;
  readonly sizeBytes?: number;
  /** Beside the registry's own time. Default: by its size, 50 MB a second. */
  readonly pullMicros?: Micros;
  /** On the node from the start. */
  readonly present?: boolean;
  /** Pinned images are kept by the agent's image collection. */
  readonly pinned?: boolean;
  /** The pull fails with this text. */
  readonly pullError?: string;
  /** Only who says these may pull it. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** A shell and the small tools are in it. Otherwise any command is its own program. */
  readonly shell?: boolean;
  /**
   * What the shell lacks is a program of the image: it serves as `runs` says, and succeeds at once where somebody runs it in a
   * container beside its own. Default: there is no such program.
   */
  readonly ownPrograms?: boolean;
  /** What runs when a container names no command, and whatever command there is without a shell. */
  readonly runs?: ServiceRow;
  /** A command of the image, which its shell or its own program then runs. */
  readonly command?: readonly string[];
  readonly user?: number;
}

export interface ServiceRow {
  /** It ends by itself after so long with `status`; undefined: it serves until it is told to stop. */
  readonly afterMicros?: Micros;
  readonly status?: number;
  /** How long it takes to stop after TERM, or between which two times; `null`: it takes no notice. Default a tenth of a second. */
  readonly stopMicros?: Micros | readonly [Micros, Micros] | null;
  readonly stopStatus?: number;
  readonly memory?: UsageModel;
  /** Nanocores: 1e9 is a core. */
  readonly cpu?: UsageModel;
  /** Ports that answer, with the status of HTTP requests; `any`: all of them, with 200. */
  readonly ports?: "any" | readonly { readonly port: number; readonly status?: number; readonly body?: string }[];
  /** A line that it logs at its start. `{container}` and `{image}` stand for their names. */
  readonly says?: string;
}

export interface StoredImage {
  readonly id: string;
  readonly tags: string[];
  readonly digests: readonly string[];
  readonly sizeBytes: number;
  readonly row: ImageRow;
}

/** A repository of 255 characters at most, with a tag and a digest. */
const referenceLengthMax = 255 + 1 + 128 + 1 + 71;

/** Names that were asked for before: each of thousands of nodes asks for the same few. */
const normal = new Map<string, string | undefined>();
const normalMax = 4096;

/** `host/path:tag`, `host/path@sha256:…`: docker.io, library and latest where they are left out. */
function normalReference(name: string): string | undefined {
  if (name.length > referenceLengthMax) return undefined;
  const known = normal.get(name);
  if (known !== undefined || normal.has(name)) return known;
  if (normal.size >= normalMax) normal.clear();
  const reference = withDefaults(name);
  normal.set(name, reference);
  return reference;
}

function withDefaults(name: string): string | undefined {
  const match = /^([^@]+?)(?::([\w][\w.-]{0,127}))?(@sha256:[0-9a-f]{64})?$/.exec(name);
  if (match === null) return undefined;
  let path = match[1] as string;
  const [first = "", ...rest] = path.split("/");
  const hasHost = rest.length > 0 && (first.includes(".") || first.includes(":") || first === "localhost");
  if (!hasHost) path = rest.length === 0 ? `docker.io/library/${path}` : `docker.io/${path}`;
  const repository = path.split("/").slice(1).join("/");
  if (!/^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/.test(repository))
    return undefined;
  if (match[3] !== undefined) return path + match[3];
  return `${path}:${match[2] ?? "latest"}`;
}

/** Of references: each node pulls the same few images, and again with each pod of the newest tag. */
const digests = new Map<string, string>();
const digestsMax = 4096;

/** 64 hexadecimal digits that belong to a text. */
export function digestOf(...parts: readonly string[]): string {
  const text = JSON.stringify(parts);
  let digest = digests.get(text);
  if (digest === undefined) {
    if (digests.size >= digestsMax) digests.clear();
    digest = drawnDigest(parts);
    digests.set(text, digest);
  }
  return digest;
}

function drawnDigest(parts: readonly string[]): string {
  const stream = prngStream("image", ...parts);
  const words = Array.from({ length: 8 }, () => stream.uint32().toString(16).padStart(8, "0"));
  return words.join("");
}

const SIZE_BYTES_DEFAULT = 30_000_000;

export class ImageStore {
  readonly stored = new Map<string, StoredImage>();
  private readonly rows: readonly ImageRow[];
  private readonly isOpen: boolean;
  /** All of them, as they are listed, while nothing has changed. */
  private messages: readonly Image[] | undefined;
  /** Unpacked sizes together. */
  usedBytes = 0;

  /** `isOpen`: what no row names can be pulled too. */
  constructor(rows: readonly ImageRow[], isOpen: boolean) {
    this.rows = rows;
    this.isOpen = isOpen;
    for (const row of rows) if (row.present === true && !row.name.endsWith("*")) this.add(row.name, row);
  }

  /** As a list of all answers: the same one until something changes. */
  listed(): readonly Image[] {
    this.messages ??= [...this.stored.values()].map(imageMessage);
    return this.messages;
  }

  /** By id, tag or digest, as calls name it. */
  find(name: string): StoredImage | undefined {
    const byId = this.stored.get(name) ?? this.stored.get(`sha256:${name}`);
    if (byId !== undefined) return byId;
    const reference = normalReference(name);
    if (reference === undefined) return undefined;
    const hasDigest = reference.includes("@");
    for (const image of this.stored.values()) {
      if (image.tags.includes(reference) || (hasDigest && image.digests.includes(reference))) return image;
    }
    return undefined;
  }

  /** What a pull comes to, before its time has passed. */
  offer(name: string): { readonly row: ImageRow; readonly sizeBytes: number } | { readonly error: string } {
    const reference = normalReference(name);
    if (reference === undefined)
      return {
        error: `failed to parse image reference "${name.slice(0, referenceLengthMax)}": invalid reference format`,
      };
    const row = this.rowOf(reference);
    const prefix = `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}"`;
    if (row?.pullError !== undefined) return { error: `${prefix}: ${row.pullError}` };
    if (row !== undefined) return { row, sizeBytes: row.sizeBytes ?? SIZE_BYTES_DEFAULT };
    const host = reference.split("/", 1)[0] as string;
    if (/^(?:localhost|127\.[\d.]+)(?::\d+)?$/.test(host)) {
      const address = host.includes(":")
        ? host.replace("localhost", "127.0.0.1")
        : `${host.replace("localhost", "127.0.0.1")}:80`;
      const [path, tag] = reference.slice(host.length + 1).split(":") as [string, string];
      return {
        error: `${prefix}: failed to do request: Head "http://${host}/v2/${path}/manifests/${tag}": dial tcp ${address}: connect: connection refused`,
      };
    }
    if (!this.isOpen) return { error: `${prefix}: ${reference}: not found` };
    return { row: { name: reference }, sizeBytes: SIZE_BYTES_DEFAULT };
  }

  add(name: string, row: ImageRow): StoredImage {
    const reference = normalReference(name) ?? name;
    const id = `sha256:${digestOf(row.name.endsWith("*") ? reference : row.name)}`;
    const known = this.stored.get(id);
    this.messages = undefined;
    if (known !== undefined) {
      if (!known.tags.includes(reference)) known.tags.push(reference);
      return known;
    }
    const repository = reference.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
    const image: StoredImage = {
      id,
      tags: reference.includes("@") ? [] : [reference],
      digests: [reference.includes("@") ? reference : `${repository}@sha256:${digestOf("manifest", reference)}`],
      sizeBytes: row.sizeBytes ?? SIZE_BYTES_DEFAULT,
      row,
    };
    this.stored.set(id, image);
    this.usedBytes += image.sizeBytes;
    return image;
  }

  /** These are there, and no others. */
  putBack(images: readonly StoredImage[]): void {
    this.messages = undefined;
    this.stored.clear();
    this.usedBytes = 0;
    for (const image of images) {
      this.stored.set(image.id, image);
      this.usedBytes += image.sizeBytes;
    }
  }

  remove(image: StoredImage): void {
    this.messages = undefined;
    this.stored.delete(image.id);
    this.usedBytes -= image.sizeBytes;
  }

  private rowOf(reference: string): ImageRow | undefined {
    return this.rows.find(({ name }) =>
      name.endsWith("*") ? reference.startsWith(normalPrefix(name.slice(0, -1))) : normalReference(name) === reference,
    );
  }
}

/** Of a name with `*`: docker.io before what has no host. */
function normalPrefix(prefix: string): string {
  const first = prefix.split("/", 1)[0] as string;
  if (prefix === "") return "";
  if (!prefix.includes("/")) return `docker.io/library/${prefix}`;
  return first.includes(".") || first.includes(":") || first === "localhost" ? prefix : `docker.io/${prefix}`;
}

/** Files that an unpacked image has. */
export const INODES_OF_IMAGE = 400;

export const imageMessage = ({ id, tags, digests, sizeBytes, row }: StoredImage): Image => ({
  id,
  repoTags: [...tags],
  repoDigests: digests,
  size: sizeBytes,
  username: "",
  pinned: row.pinned ?? false,
  ...(row.user === undefined ? {} : { uid: { value: row.user } }),
});
