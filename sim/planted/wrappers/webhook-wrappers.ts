/** Planted bugs of which admission webhooks are asked, what they are told, and what is made of their answers. */
import type { AdmissionOptions } from "../../apiserver/admission/plugins.ts";
import type { WebhookAnswer, WebhookCall } from "../../apiserver/admission/webhooks.ts";
import type { Webhook } from "../../apiserver/admission/webhooks-match.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { dropped } from "./misreading.ts";
import { type Planted, type Rows, wrapped } from "./planted.ts";

type AskedWebhooks = AdmissionOptions["webhooks"];

export const webhooksWith = (planted: Planted, asked: AskedWebhooks): AskedWebhooks => wrapped(planted, rows, asked);

const rows: Rows<AskedWebhooks> = {
  "webhook-told-new-as-old": asking((asked) =>
    isObject(asked["object"]) && isObject(asked["oldObject"])
      ? { ...asked, oldObject: structuredClone(asked["object"]) }
      : asked,
  ),
  "webhook-dry-run-untold": asking((asked) => ({ ...asked, dryRun: false })),
  "match-conditions-unheeded": (inner, shows) => ({
    ...inner,
    configurations(kind) {
      const found = inner.configurations(kind);
      return shows() ? found.map((each) => withEach(each, (webhook) => dropped(webhook, "matchConditions"))) : found;
    },
  }),
  "reinvocation-unheeded": (inner, shows) => ({
    ...inner,
    configurations(kind) {
      const found = inner.configurations(kind);
      return shows() ? found.map((each) => withEach(each, (webhook) => dropped(webhook, "reinvocationPolicy"))) : found;
    },
  }),
  "webhook-warnings-untold": (inner, shows) => ({
    ...inner,
    call: (wanted, done) =>
      inner.call(wanted, (answer) =>
        done(
          "body" in answer && isObject(answer.body) && shows()
            ? { ...answer, body: dropped(answer.body, "response", "warnings") }
            : answer,
        ),
      ),
  }),
  "ignore-forgives-refusals": (inner, shows) => ({
    ...inner,
    call(wanted, done) {
      const all = [...inner.configurations("mutating"), ...inner.configurations("validating")];
      const webhooks = all.flatMap(({ webhooks: list }) => (list ?? []) as unknown as Webhook[]);
      const isForgiving = webhooks.some((webhook) => webhook.failurePolicy === "Ignore" && isAskedBy(webhook, wanted));
      return inner.call(wanted, (answer) =>
        done(isForgiving && isRefusal(answer) && shows() ? { error: "it has refused" } : answer),
      );
    },
  }),
};

function asking(change: (asked: JsonObject) => JsonObject) {
  return (inner: AskedWebhooks, shows: () => boolean): AskedWebhooks => ({
    ...inner,
    call(wanted, done) {
      const { request } = wanted.body;
      if (!isObject(request) || !shows()) return inner.call(wanted, done);
      return inner.call({ ...wanted, body: { ...wanted.body, request: change(request) } }, done);
    },
  });
}

/** Each webhook of a configuration changed. */
const withEach = (configuration: JsonObject, change: (webhook: JsonObject) => JsonObject): JsonObject => ({
  ...configuration,
  webhooks: ((configuration["webhooks"] ?? []) as readonly JsonObject[]).map(change),
});

const isAskedBy = ({ clientConfig: { url, service } }: Webhook, wanted: WebhookCall): boolean =>
  url === undefined
    ? service?.["namespace"] === wanted.service?.namespace && service?.["name"] === wanted.service?.name
    : wanted.service === undefined && wanted.url.startsWith(url);

function isRefusal(answer: WebhookAnswer): boolean {
  const response = "body" in answer && isObject(answer.body) ? answer.body["response"] : undefined;
  return isObject(response) && response["allowed"] === false;
}
