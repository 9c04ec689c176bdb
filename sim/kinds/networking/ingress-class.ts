/** Classes of ingresses: which controller serves them. Source: the published defaults, validation and columns. */
import { domainPrefixedPathErrors } from "../../../wire/names.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";
import { ageColumn, column, nameColumn, none, printer, textAt } from "../shared/printer.ts";
import {
  fieldRules,
  required,
  all,
  atMostLength,
  struct,
  present,
  oneOf,
  caseOf,
  forbidden,
  stepRules,
  immutable,
} from "../../objects/rules.ts";
import { reference } from "../shared/references.ts";
import { label } from "../shared/formats.ts";
import type { Place } from "../../objects/place.ts";

export const ingressClassKind: KindRow = {
  resource: "networking.svc.io/ingressclasses",
  usesGeneration: true,
  rules: {
    defaults(draft) {
      const parameters = (draft["spec"] as JsonObject | undefined)?.["parameters"];
      if (!isObject(parameters) || parameters["scope"] !== undefined) return;
      draft["spec"] = { ...(draft["spec"] as JsonObject), parameters: { ...parameters, scope: "Cluster" } };
    },
    validate: fieldRules({
      "spec.controller": required(all(atMostLength(250), domainPrefixedPath)),
      "spec.parameters": struct(
        reference.judge,
        { scope: present(oneOf(["Cluster", "Namespace"])) },
        caseOf("scope", {
          Namespace: { namespace: present(label, "`parameters.scope` is set to 'Namespace'") },
          Cluster: { namespace: forbidden("`parameters.scope` is set to 'Cluster'") },
        }),
      ),
    }),
    validateUpdate: stepRules({ "spec.controller": immutable("") }),
  },
  columns: printer(
    nameColumn,
    column("Controller", "Who serves ingresses of this class.", (it) => textAt(it, "spec.controller")),
    column("Parameters", "Where more is said for the controller.", (it) => {
      const [group, kind, name] = ["apiGroup", "kind", "name"].map((field) => textAt(it, `spec.parameters.${field}`));
      return name === "" ? none : `${kind}${group === "" ? "" : `.${group}`}/${name}`;
    }),
    ageColumn,
  ),
};

function domainPrefixedPath(text: string, at: Place): void {
  for (const { value, why } of domainPrefixedPathErrors(text)) at.invalid(value, why);
}
