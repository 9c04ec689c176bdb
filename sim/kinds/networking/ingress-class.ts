/** Classes of ingresses: which controller serves them. Source: the published defaults, validation and columns. */
import { dns1123LabelErrors, domainPrefixedPathErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import {
  forbiddenField,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import type { KindRow } from "../kind-row.ts";
import { ageColumn, column, nameColumn, none, printer, textAt } from "../shared/printer.ts";
import { referenceCauses } from "../shared/references.ts";

export const ingressClassKind: KindRow = {
  resource: "networking.svc.io/ingressclasses",
  usesGeneration: true,
  rules: {
    defaults(draft) {
      const parameters = (draft["spec"] as JsonObject | undefined)?.["parameters"];
      if (!isObject(parameters) || parameters["scope"] !== undefined) return;
      draft["spec"] = { ...(draft["spec"] as JsonObject), parameters: { ...parameters, scope: "Cluster" } };
    },
    validate(object, causes) {
      const spec = (object["spec"] ?? {}) as JsonObject;
      controllerCauses((spec["controller"] ?? "") as string, causes);
      if (isObject(spec["parameters"])) parameterCauses(spec["parameters"], "spec.parameters", causes);
    },
    validateUpdate(object, live, causes) {
      const [now, before] = [object, live].map((it) => textAt(it, "spec.controller"));
      if (now !== before) causes.push(invalidValue("spec.controller", now, "field is immutable"));
    },
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

const controllerLengthMax = 250;

function controllerCauses(controller: string, causes: Cause[]): void {
  const path = "spec.controller";
  if (controller === "") {
    causes.push(requiredValue(path));
    return;
  }
  if (controller.length > controllerLengthMax) causes.push(tooLongValue(path, controllerLengthMax));
  for (const { value, why } of domainPrefixedPathErrors(controller)) causes.push(invalidValue(path, value, why));
}

function parameterCauses(parameters: JsonObject, path: string, causes: Cause[]): void {
  referenceCauses(parameters, path, causes);
  const { scope, namespace } = parameters;
  if (scope === undefined) causes.push(requiredValue(`${path}.scope`));
  else if (scope === "Namespace") {
    if (namespace === undefined) {
      causes.push(requiredValue(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    } else {
      pushInvalid(`${path}.namespace`, namespace, dns1123LabelErrors(namespace as string), causes);
    }
  } else if (scope !== "Cluster") causes.push(unsupportedValue(`${path}.scope`, scope, ["Cluster", "Namespace"]));
  else if (namespace !== undefined) {
    causes.push(forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  }
}
