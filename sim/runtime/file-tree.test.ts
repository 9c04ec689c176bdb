import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bytesText,
  type DirectoryNode,
  type FileNode,
  FileTree,
  pathParts,
  textBytes,
  type TreeNode,
} from "./file-tree.ts";

const names = ["a", "b", "c"] as const;
const path = fc.array(fc.constantFrom(...names, "..", "."), { maxLength: 4 }).map((parts) => `/${parts.join("/")}`);

const operation = fc.oneof(
  fc.record({ is: fc.constant("make" as const), path }),
  fc.record({ is: fc.constant("write" as const), path, bytes: fc.integer({ min: 0, max: 20_000 }) }),
  fc.record({ is: fc.constant("add" as const), path, text: fc.constantFrom("", "a", "b".repeat(5_000)) }),
  fc.record({ is: fc.constant("add to the last" as const), text: fc.constantFrom("a", "b".repeat(5_000)) }),
  fc.record({ is: fc.constant("remove" as const), path }),
  fc.record({ is: fc.constant("rename" as const), path, to: path }),
  fc.record({ is: fc.constant("exchange" as const), path, to: path }),
);

/** Nodes from the root down; throws when one is met twice, as in a tree that holds itself. */
function nodesOf(root: DirectoryNode): readonly TreeNode[] {
  const met = new Set<TreeNode>([root]);
  const todo: TreeNode[] = [root];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (next.is !== "directory") continue;
    for (const entry of next.entries.values()) {
      if (met.has(entry)) throw new Error("a node has two names");
      met.add(entry);
      todo.push(entry);
    }
  }
  return [...met];
}

const unlimited = { disk: () => true, memory: () => true, held: () => true };

describe("a tree of files", () => {
  it("stays a tree, and is charged for what is in it, whatever is done to it", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), (operations) => {
        let bytes = 0;
        let inodes = 0;
        let held = 0;
        let last: { readonly path: string; readonly file: FileNode } | undefined;
        const tree = new FileTree({
          disk: (more, nodes) => {
            bytes += more;
            inodes += nodes;
            return true;
          },
          memory: () => true,
          held: (more) => {
            held += more;
            return true;
          },
        });
        for (const each of operations) {
          if (each.is === "make") tree.makeDirectories(each.path, 0);
          else if (each.is === "remove") tree.remove(each.path, 0);
          else if (each.is === "rename") tree.rename(each.path, each.to, 0);
          else if (each.is === "exchange") tree.exchange(each.path, each.to, 0);
          else if (each.is === "add to the last") {
            if (last !== undefined) tree.append(last.path, last.file, each.text, 0); // it may have no name any more
          } else {
            const file = tree.open(each.path, each.is === "add", 0);
            if (typeof file === "string") continue;
            tree.append(each.path, file, each.is === "add" ? each.text : each.bytes, 0);
            last = { path: each.path, file };
          }
        }
        expect(nodesOf(tree.root).length - 1).toBe(inodes); // the root is nobody's
        expect(tree.use("/")).toEqual({ bytes: bytes + 4096, inodes: inodes + 1 });
        const heldBytes = nodesOf(tree.root).map((node) => 512 + (node.is === "file" ? node.heldBytes : 0));
        expect(heldBytes.reduce((sum, each) => sum + each)).toBe(held + 512);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps no more names and contents than there is room for, and charges nothing for what it refuses", () => {
    let held = 0;
    let bytes = 0;
    const max = 40 << 20;
    const tree = new FileTree({
      ...unlimited,
      disk: (more) => {
        bytes += more;
        return true;
      },
      held: (more) => {
        if (more > 0 && held + more > max) return false;
        held += more;
        return true;
      },
    });
    const long = "x".repeat(10 << 20);
    const add = (name: string): unknown => {
      const file = tree.open(name, true, 0);
      return typeof file === "string" ? file : tree.append(name, file, long, 0);
    };
    expect(["/a", "/b", "/c", "/d"].map(add)).toEqual([undefined, undefined, undefined, "No space left on device"]);
    expect([bytes, held < max]).toEqual([3 * long.length, true]);
    tree.remove("/a", 0);
    expect(add("/d")).toBeUndefined();
    expect(held).toBeLessThan(max);
    for (let at = 0; held + 512 <= max; at++) tree.open(`/${at}`, false, 0);
    expect(tree.open("/more", false, 0)).toBe("No space left on device");
    expect(tree.makeDirectories("/directory", 0)).toBe("No space left on device");
  });

  it.each([
    ["rename", "/", "/a", "Device or resource busy"],
    ["rename", "/d", "/", "Device or resource busy"],
    ["rename", "/d", "/d/e", "Invalid argument"],
    ["rename", "/d", `/${"n".repeat(256)}`, "File name too long"],
    ["exchange", "/", "/d", "Invalid argument"],
    ["exchange", "/d", "/d/e", "Invalid argument"],
    ["exchange", "/d/e", "/d", "Invalid argument"],
  ] as const)("%s %s %s: %s", (what, from, to, why) => {
    const tree = new FileTree(unlimited);
    tree.makeDirectories("/d/e", 0);
    tree[what](from, to, 0);
    expect(tree[what](from, to, 0)).toBe(why);
  });

  it("finds by any spelling of a path what it finds by its parts", () => {
    const tree = new FileTree(unlimited);
    for (const made of ["/a/b/c", "/b/.c", "/c/..a"]) tree.makeDirectories(made, 0);
    const part = fc.constantFrom("a", "b", "c", ".c", "..a", ".", "..", "");
    const spelled = fc.tuple(fc.boolean(), fc.array(part, { maxLength: 6 }));
    const byParts = (text: string): TreeNode | undefined => {
      let node: TreeNode | undefined = tree.root;
      for (const name of pathParts(text)) node = node?.is === "directory" ? node.entries.get(name) : undefined;
      return node;
    };
    fc.assert(
      fc.property(spelled, ([isAbsolute, parts]) => {
        const text = (isAbsolute ? "/" : "") + parts.join("/");
        expect(tree.find(text)).toBe(byParts(text));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });
});

it("makes a text of bytes, and bytes of a text, however long and whatever they are", () => {
  const odd = fc.array(fc.tuple(fc.nat({ max: 30_000 }), fc.nat({ max: 255 })), { maxLength: 4 });
  const marks = fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xc3, 0xa9], [0, 127, 128]);
  fc.assert(
    fc.property(
      fc.constantFrom(5, 8_192, 8_193, 30_000),
      odd,
      marks,
      fc.nat({ max: 17_000 }),
      (size, some, mark, at) => {
        const bytes = new Uint8Array(size).fill(97);
        for (const [where, byte] of some) if (where < size) bytes[where] = byte;
        for (const place of [0, 8_192, at]) if (place + mark.length <= size) bytes.set(mark, place);
        const text = bytesText(bytes);
        expect(text).toBe(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        expect(textBytes(text)).toEqual(bytes);
      },
    ),
    { seed: 9, numRuns: 100 },
  );
});
