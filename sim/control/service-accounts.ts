/** Sees that each namespace has the account that its pods run under. Source: the published service accounts controller. */
import type { Outcome, WorkQueue } from "../client/work-queue.ts";
import { collectionOf, type ControlParts, kindRow, queueOf } from "./shared/controller.ts";
import { type Informer, keyOf } from "./shared/informers.ts";
import { call, isGood, type Steps } from "./shared/steps.ts";
import type { Stored } from "./shared/stored.ts";

interface Namespace extends Stored {
  readonly status?: { readonly phase?: string };
}

const namespaceRow = kindRow("v1", "Namespace", "namespaces");
const accountRow = kindRow("v1", "ServiceAccount", "serviceaccounts");
const accountName = "default";

export class ServiceAccountController {
  private readonly namespaces: Informer<Namespace>;
  private readonly accounts: Informer<Stored>;
  private readonly queue: WorkQueue<string>;

  constructor(parts: ControlParts) {
    this.namespaces = parts.informers.of<Namespace>(collectionOf(namespaceRow));
    this.accounts = parts.informers.of<Stored>(collectionOf(accountRow));
    this.queue = queueOf(parts, "serviceaccount", (key) => this.sync(key));
  }

  start(): void {
    this.namespaces.hear({ changed: (namespace) => this.queue.add(keyOf(namespace)), gone: () => {} });
    this.accounts.hear({ changed: () => {}, gone: ({ metadata }) => this.queue.add(metadata.namespace ?? "") });
  }

  private *sync(namespace: string): Steps<Outcome> {
    if (this.namespaces.get(namespace)?.status?.phase !== "Active") return "done";
    if (this.accounts.get(`${namespace}/${accountName}`) !== undefined) return "done";
    const { apiVersion, kind } = accountRow;
    const body = { apiVersion, kind, metadata: { name: accountName, namespace } };
    const answer = yield* call({ method: "POST", path: collectionOf(accountRow, namespace), body });
    return isGood(answer) || answer.status === 409 || answer.status === 403 ? "done" : "again";
  }
}
