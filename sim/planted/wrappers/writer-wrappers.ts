/** Planted bugs of one request's writes, around the writer that carries them out. */
import { alwaysAllow } from "../../apiserver/access/authorize.ts";
import type { AdmissionStep } from "../../apiserver/admission/admission.ts";
import type { Run } from "../../apiserver/requests/run.ts";
import { isApply } from "../../apiserver/verbs/apply.ts";
import { preconditionFailure, type DoomContext } from "../../apiserver/verbs/deletion.ts";
import { refreshQuotas } from "../../apiserver/verbs/resource-quota.ts";
import { usageOf } from "../../apiserver/admission/quota-usage.ts";
import type { Live, Writer } from "../../apiserver/verbs/writer.ts";
import { forbidden, staleVersion, unmapped } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, metadataOf, ownMetadata } from "../../contract/objects.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Amounts, noQuantity } from "../../objects/quota-use.ts";
import { addQuantities, type Quantity } from "../../../wire/quantity.ts";
import { around } from "./planted.ts";

const amountIn = (amounts: Amounts, key: string): Quantity => amounts.get(key) ?? noQuantity;

/** What the writer does otherwise for this request; undefined where the bug does not concern it. */
export type WriterWrapper = (writer: Writer, run: Run) => Partial<Writer> | undefined;

export const writerWrappers = {
  "patch-lost-update": (writer, run) =>
    isPatch(run)
      ? {
          context: pausing(writer),
          replace: (resource, live, ...rest) => writer.replace(resource, atPresent(writer, live), ...rest),
          remove: (live, dryRun) => writer.remove(atPresent(writer, live), dryRun),
        }
      : undefined,
  "patch-retry-spurious-409": (writer, run) =>
    isPatch(run)
      ? {
          context: pausing(writer),
          replace(resource, live, ...rest) {
            const stored = writer.replace(resource, live, ...rest);
            if (stored === undefined) throw staleVersion(resource.name, metadataOf(live.object).name ?? "");
            return stored;
          },
        }
      : undefined,
  "put-creates-without-right": (writer, run) =>
    run.request.method === "PUT" ? { context: { ...writer.context, authorizer: alwaysAllow } } : undefined,
  "generate-name-collision": (writer) => ({
    law: {
      ...writer.law,
      prepareForCreate(draft, strategy, context) {
        const metadata = ownMetadata(draft);
        const { name = "", generateName = "" } = metadata;
        if (name === "" && generateName !== "") metadata.name = generateName + context.prng.intInclusive(2, 4);
        writer.law.prepareForCreate(draft, strategy, context);
      },
    },
    create(resource, draft, dryRun, isLarge) {
      const made = writer.create(resource, draft, dryRun, isLarge);
      if (made !== undefined || !isOfFew(draft)) return made;
      const { namespace = "", name = "" } = metadataOf(draft);
      const taken = writer.live(resource, namespace, name);
      return taken && writer.replace(resource, taken, draft, dryRun);
    },
  }),
  "scale-owns-nothing": (writer, run) =>
    run.resourcePlace.subresource?.subresource === "scale"
      ? {
          replace: (resource, live, draft, ...rest) =>
            writer.replace(resource, live, ownedAsBefore(draft, live), ...rest),
        }
      : undefined,
  "dry-run-consumes-quota": (writer) => ({
    create(resource, draft, dryRun, isLarge) {
      const made = writer.create(resource, draft, dryRun, isLarge);
      if (made === undefined || !dryRun) return made;
      const { namespace = "", name = "" } = metadataOf(made);
      const quotaSums = around(writer.quotaSums, {
        of: (asked, inNamespace, quota, hard) => {
          const used = writer.quotaSums.of(asked, inNamespace, quota, hard);
          if (asked !== resource) return used;
          const more = usageOf(resource, made, quota, hard);
          return new Map([...hard.keys()].map((key) => [key, addQuantities(amountIn(used, key), amountIn(more, key))]));
        },
      });
      refreshQuotas(around(writer, { quotaSums }), namespace, resource, name);
      return made;
    },
  }),
  "quota-kept-by-collections": (writer, run) =>
    isOfCollection(run) ? { quotaNamespaces: around(writer.quotaNamespaces, { has: () => false }) } : undefined,
  "quota-forgets-applied": (writer, run) =>
    isApply(run) ? { quotaNamespaces: around(writer.quotaNamespaces, { has: () => false }) } : undefined,
  "escalation-by-update": (writer, run) => withoutStep(writer, run, "rbac escalation", "PUT", "PATCH"),
  "policies-skip-patches": (writer, run) => withoutStep(writer, run, "validating policies", "PATCH"),
  "priority-of-pods-believed": (writer, run) => withoutStep(writer, run, "pod priority", run.request.method),
  "policies-skip-dry-runs": (writer, run) =>
    run.query.has("dryRun") ? withoutStep(writer, run, "validating policies", run.request.method) : undefined,
  "webhooks-skip-applies": (writer, run) =>
    isApply(run) ? withoutStep(writer, run, "mutating webhooks", "PATCH") : undefined,
  "escalation-by-binding": (writer, run) =>
    run.resourcePlace.row.resource.endsWith("rolebindings")
      ? withoutStep(writer, run, "rbac escalation", run.request.method)
      : undefined,
  "going-namespace-is-frozen"(writer, { request, resourcePlace: place }) {
    if (place.namespace === "" || (request.method !== "PUT" && request.method !== "PATCH")) return undefined;
    const namespace = writer.live(writer.resources.named("", "v1", "namespaces"), "", place.namespace);
    if (namespace === undefined || metadataOf(namespace.object).deletionTimestamp === undefined) return undefined;
    throw forbidden(place.resourceName, place.name, `namespace ${place.namespace} is being terminated`);
  },
  "deletecollection-body-500"(_writer, run) {
    const { body } = run.request;
    const isSent = body !== undefined && !(body instanceof Uint8Array && body.length === 0);
    if (isOfCollection(run) && isSent) throw unmapped('no kind "DeleteOptions" is registered');
    return undefined;
  },
  // What the first object's grace period came to is every other's, too.
  "deletecollection-options-leak"({ law }, run) {
    if (!isOfCollection(run)) return undefined;
    let first: number | undefined;
    return {
      law: {
        ...law,
        doomOf(live, context) {
          const gracePeriodSeconds = context.options.gracePeriodSeconds ?? first;
          const doom = law.doomOf(live, { ...context, options: { ...context.options, gracePeriodSeconds } });
          first ??= metadataOf(doom.is === "mark" ? doom.draft : live).deletionGracePeriodSeconds;
          return doom;
        },
      },
    };
  },
  // The mark is a write of its own, which the version that was asked for is behind.
  "delete-precondition-self-conflict"(writer, run) {
    let marked: DoomContext | undefined;
    return {
      law: {
        ...writer.law,
        doomOf(live, context) {
          const doom = writer.law.doomOf(live, context);
          marked = doom.is === "mark" && doom.thenRemove ? context : undefined;
          return doom;
        },
      },
      remove(live, dryRun) {
        const group = writer.resources.of(run.resourcePlace.row)?.group ?? "";
        const failed =
          dryRun || marked === undefined
            ? undefined
            : preconditionFailure(live.object, marked.options, marked.strategy, group);
        if (failed !== undefined) throw failed;
        return writer.remove(live, dryRun);
      },
    };
  },
  "unsafe-delete-takes-readable": (writer, run) =>
    run.request.method === "DELETE"
      ? {
          context: { ...writer.context, unreadable: around(writer.context.unreadable, { has: () => true }) },
          live: (...asked) => writer.live(...asked), // an ordinary deletion reads what there is
        }
      : undefined,
} as const satisfies Record<string, WriterWrapper>;

/** Of an object, and no application. */
const isPatch = (run: Run): boolean =>
  run.request.method === "PATCH" && !isApply(run) && run.resourcePlace.subresource?.subresource !== "scale";

/** As if admission had no step of that name for requests of these methods. */
const withoutStep = ({ context }: Writer, { request }: Run, name: string, ...methods: readonly string[]) =>
  methods.includes(request.method)
    ? { context: { ...context, admission: context.admission.filter((step) => step.name !== name) } }
    : undefined;

const isOfCollection = ({ request, resourcePlace }: Run): boolean =>
  request.method === "DELETE" && resourcePlace.name === "";

/** Between reading and writing there is a moment in which another writer can be faster; without it there is none. */
function pausing({ context }: Writer): Writer["context"] {
  const pause: AdmissionStep = {
    name: "pause",
    sideEffects: false,
    handles: ({ operation }) => operation === "UPDATE",
    admit: (_review, done) => context.clock.after(pauseMicros, () => done({})),
  };
  return { ...context, admission: [pause, ...context.admission] };
}

const pauseMicros: Micros = 2_000;

/** As if what lies there now were what had been read. */
function atPresent({ context }: Writer, live: Live): Live {
  const now = context.store.get(live.key);
  return typeof now === "object" ? { ...live, modRevision: now.modRevision } : live;
}

/** Whether the name is one of the few that the bug gives. */
function isOfFew(draft: Draft): boolean {
  const { name = "", generateName = "" } = metadataOf(draft);
  return generateName !== "" && name.length === generateName.length + 1 && name.startsWith(generateName);
}

function ownedAsBefore(draft: Draft, live: Live): Draft {
  const { managedFields } = metadataOf(live.object) as JsonObject;
  const { managedFields: _new, ...metadata } = metadataOf(draft) as JsonObject;
  return { ...draft, metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
}
