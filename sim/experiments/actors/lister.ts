/**
 * Reads a collection page by page, again and again. When its token has expired it begins anew: halves of two states are
 * no state.
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { versionOf } from "../../client/informer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Actor, type ActorParts, collectionPath, textAt } from "./actor.ts";

export class Lister implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"lister">;
  private readonly path: string;
  private lists = 0;
  private pages = 0;
  private expired = 0;
  private failures = 0;

  constructor(parts: ActorParts, options: ClientOf<"lister">) {
    this.parts = parts;
    this.options = options;
    this.path = collectionPath(parts.dialect, options.resource, options.namespace);
  }

  start(): void {
    this.parts.process.clock.after(this.options.every, () => this.page([], ""));
  }

  pending(): string | undefined {
    return this.lists === 0 ? "it has not finished a list" : undefined;
  }

  counts(): Readonly<Record<string, number>> {
    return { lists: this.lists, pages: this.pages, expired: this.expired, failures: this.failures };
  }

  private page(before: readonly JsonObject[], token: string): void {
    const { api } = this.parts;
    const query = `limit=${this.options.limit}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
    api.call({ method: "GET", path: this.path, query }, 10_000_000, (answer) => {
      const next = answer.ok ? textAt(answer.object, "metadata", "continue") : "";
      if (answer.ok && answer.status === 410) {
        this.expired++;
        this.start();
        return;
      }
      if (!answer.ok || answer.status !== 200) {
        this.failures++;
        this.start();
        return;
      }
      this.pages++;
      const items = before.concat((answer.object["items"] ?? []) as JsonObject[]);
      if (next !== "") this.goOn(items, next);
      else this.finish(items, versionOf(answer.object));
    });
  }

  private goOn(items: readonly JsonObject[], token: string): void {
    this.parts.process.clock.after(this.options.pause, () => this.page(items, token));
  }

  private finish(items: readonly JsonObject[], version: string): void {
    const { process, tell } = this.parts;
    this.lists++;
    process.trace("lister.listed", items.length, version);
    tell({ kind: "listed", client: process.name, path: this.path, version, items });
    this.start();
  }
}
