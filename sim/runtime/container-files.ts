/**
 * Files as a container sees them: volumes from the host at their mount paths, all else in the container's own writable
 * layer above its image. The layer is made when something is written; the image's files are names alone.
 */
import { append } from "../../wire/lists.ts";
import type { Mount } from "../../wire/cri-messages.ts";
import type { Micros } from "../kernel/types.ts";
import { type FileError, type FileNode, type FileTree, type TreeNode, pathParts } from "./file-tree.ts";

export interface FoundFile {
  readonly tree: FileTree;
  readonly path: string;
  readonly readOnly: boolean;
  /** Of what is mounted there: the whole of it. */
  readonly mounted?: string;
}

/** Directories that images have. */
const imageDirectories = new Set(
  "/ /bin /dev /etc /home /lib /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/bin /usr/local /usr/local/bin /var /var/lib /var/log /var/run /var/tmp".split(
    " ",
  ),
);
const imageFiles = new Map([
  ["/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"],
  ["/etc/group", "root:x:0:\n"],
  ["/etc/resolv.conf", ""],
]);

export class ContainerFiles {
  private readonly host: FileTree;
  private readonly mounts: readonly Mount[];
  private readonly makeLayer: () => FileTree;
  private readonly hostname: string;
  private readonly address: string;
  private readonly readOnlyRoot: boolean;
  private readonly programs: ReadonlySet<string>;
  layer: FileTree | undefined;
  /** Grows with every file that is opened for writing, made, renamed or removed from inside. */
  changes = 0;

  constructor(options: {
    readonly host: FileTree;
    readonly mounts: readonly Mount[];
    readonly makeLayer: () => FileTree;
    readonly hostname: string;
    /** Its own; empty: the machine's. */
    readonly address: string;
    readonly readOnlyRoot: boolean;
    /** Names of programs in `/bin`. */
    readonly programs: ReadonlySet<string>;
  }) {
    this.host = options.host;
    // The longest first, so that a mount below another one is found.
    this.mounts = [...options.mounts].sort((a, b) => (b.containerPath ?? "").length - (a.containerPath ?? "").length);
    this.makeLayer = options.makeLayer;
    this.hostname = options.hostname;
    this.address = options.address;
    this.readOnlyRoot = options.readOnlyRoot;
    this.programs = options.programs;
  }

  get hostTree(): FileTree {
    return this.host;
  }

  /** A file, a directory or nothing; `image` for what only the image has. */
  find(path: string): TreeNode | { readonly is: "image"; readonly text: string | undefined } | undefined {
    const place = this.placeOf(path);
    const whole = `/${pathParts(path).join("/")}`;
    if (place !== undefined) {
      const there = place.tree.find(place.path);
      return there === undefined && whole === "/etc/hosts" ? { is: "image", text: this.hosts() } : there;
    }
    const own = this.layer?.find(whole);
    if (own !== undefined) return own;
    if (
      imageDirectories.has(whole) ||
      this.mounts.some(({ containerPath = "" }) => containerPath.startsWith(`${whole}/`))
    ) {
      return { is: "image", text: undefined };
    }
    const text = whole === "/etc/hostname" ? `${this.hostname}\n` : imageFiles.get(whole);
    if (text !== undefined) return { is: "image", text };
    const name = /^(?:\/usr)?(?:\/local)?\/s?bin\/([^/]+)$/.exec(whole)?.[1];
    return name !== undefined && this.programs.has(name) ? { is: "image", text: "" } : undefined;
  }

  isDirectory(path: string): boolean {
    const node = this.find(path);
    return node?.is === "directory" || (node?.is === "image" && node.text === undefined);
  }

  open(path: string, append: boolean, now: Micros): { readonly at: FoundFile; readonly file: FileNode } | FileError {
    const at = this.writable(path, now);
    if (typeof at === "string") return at;
    if (this.isDirectory(path)) return "Is a directory";
    const file = at.tree.open(at.path, append, now);
    return typeof file === "string" ? file : { at, file };
  }

  makeDirectory(path: string, now: Micros): FileError | undefined {
    const at = this.writable(path, now);
    if (typeof at === "string") return at;
    const made = at.tree.makeDirectories(at.path, now);
    return typeof made === "string" ? made : undefined;
  }

  remove(path: string, now: Micros): FileError | undefined {
    const at = this.writable(path, now);
    if (typeof at === "string") return at;
    if (at.tree.find(at.path) === undefined && this.find(path) !== undefined) return "Read-only file system";
    return at.tree.remove(at.path, now);
  }

  rename(from: string, to: string, now: Micros): FileError | undefined {
    const source = this.writable(from, now);
    const target = this.writable(to, now);
    if (typeof source === "string") return source;
    if (typeof target === "string") return target;
    return source.tree === target.tree ? source.tree.rename(source.path, target.path, now) : "Read-only file system";
  }

  /** Names in a directory, in order; undefined: it is none. */
  list(path: string): readonly string[] | undefined {
    if (!this.isDirectory(path)) return undefined;
    const whole = `/${pathParts(path).join("/")}`;
    const names = new Set<string>();
    const node = this.find(path);
    if (node?.is === "directory") for (const name of node.entries.keys()) names.add(name);
    const prefix = whole === "/" ? "/" : `${whole}/`;
    const mounted = this.mounts.map(({ containerPath = "" }) => containerPath);
    if (this.placeOf(path) === undefined) append(mounted, [...imageDirectories, ...imageFiles.keys()]);
    for (const known of mounted) {
      if (known.startsWith(prefix) && known !== prefix)
        names.add(known.slice(prefix.length).split("/", 1)[0] as string);
    }
    return [...names].sort();
  }

  /** What an agent writes there before a container starts, and nobody has written here. */
  private hosts(): string {
    const own = this.address === "" ? "" : `${this.address}\t${this.hostname}\n`;
    return `127.0.0.1\tlocalhost\n::1\tlocalhost\n${own}`;
  }

  /** Where a path may be written: a mount, or the layer with the image's directories made as they are needed. */
  private writable(path: string, now: Micros): FoundFile | FileError {
    this.changes++;
    const place = this.placeOf(path);
    if (place?.readOnly === true) return "Read-only file system";
    if (place !== undefined) return this.mountMade(place, now);
    if (this.readOnlyRoot) return "Read-only file system";
    this.layer ??= this.makeLayer();
    const parts = pathParts(path);
    const parent = `/${parts.slice(0, -1).join("/")}`;
    if (imageDirectories.has(parent)) this.layer.makeDirectories(parent, now);
    return { tree: this.layer, path: `/${parts.join("/")}`, readOnly: false };
  }

  /** What is mounted and was made by nobody is made when it is written: a directory, or the directory that a file needs. */
  private mountMade(place: FoundFile, now: Micros): FoundFile | FileError {
    const { path, tree, mounted = path } = place;
    if (tree.find(mounted) !== undefined) return place;
    const made = tree.makeDirectories(path === mounted ? mounted.slice(0, mounted.lastIndexOf("/")) : mounted, now);
    return typeof made === "string" ? made : place;
  }

  private placeOf(path: string): FoundFile | undefined {
    const whole = `/${pathParts(path).join("/")}`;
    for (const { containerPath = "", hostPath = "", readonly = false } of this.mounts) {
      if (whole === containerPath || whole.startsWith(containerPath === "/" ? "/" : `${containerPath}/`)) {
        const inside = whole.slice(containerPath.length);
        return { tree: this.host, path: hostPath + inside, readOnly: readonly, mounted: hostPath };
      }
    }
    return undefined;
  }
}
