import { shownAnswer } from "../../client/status-document.ts";
import { runLabel } from "../../runner/sandbox.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * The namespace default cannot be deleted, and namespaces are not deleted by the collection. Asked so that a server which
 * takes the request for good still deletes nothing: dry, and for a uid or a label that nothing has. One run says all.
 */
export const someNamespacesStay = defineCheck({
  id: "some-namespaces-stay",
  area: "namespaces",
  property: "The namespace default cannot be deleted, and no collection of namespaces can.",
  requirements: ["namespaces.protected", "namespaces.no-collection-delete"],
  features: ["namespaces"],
  async run(attempt) {
    const one = await attempt.client.request("DELETE", "/api/v1/namespaces/default", {
      query: { dryRun: "All" },
      body: { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "00000000-0000-4000-8000-000000000000" } },
    });
    attempt.expect("namespaces.protected", one.status === 403, "403 Forbidden", shownAnswer(one));
    const all = await attempt.client.request("DELETE", "/api/v1/namespaces", {
      query: { dryRun: "All", labelSelector: `${runLabel}=nobody` },
    });
    attempt.expect("namespaces.no-collection-delete", all.status === 405, "405 MethodNotAllowed", shownAnswer(all));
  },
});
