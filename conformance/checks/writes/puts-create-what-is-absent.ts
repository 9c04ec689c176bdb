import { configMap } from "../../arbitraries/config-maps.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** A PUT is a create or an update, as the object is absent or not. One run says all. */
export const putsCreateWhatIsAbsent = defineCheck({
  id: "puts-create-what-is-absent",
  area: "writes",
  property: "A PUT on a name that does not exist creates the object.",
  requirements: ["writes.put-creates"],
  features: ["configmaps"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const answer = await collection.put("absent", configMap("absent"));
    const promise =
      answer.status === 201 || answer.status === 200
        ? undefined
        : { expected: "201, the object created", actual: `${answer.status} ${answer.text.slice(0, 200)}` };
    attempt.holdsOrDeviates("put-creates-by-type", "writes.put-creates", promise, answer.status === 404);
    const read = await collection.get("absent");
    const exists = answer.status < 300 ? 200 : 404;
    attempt.expect(
      "objects.read-back",
      read.status === exists,
      `${exists} on a read after ${answer.status}`,
      String(read.status),
    );
  },
});
