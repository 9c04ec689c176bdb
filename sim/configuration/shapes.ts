/** What fields a file may have, and their types. All are optional here: what has to be there is said by each kind's rules. */
import { z } from "zod";

/** Each says in a sentence what it wants, since that is what the person who wrote the file reads. */
export const text = z.string({ error: "must be a string" });
export const flag = z.boolean({ error: "must be true or false" });
export const int32 = z.int32({ error: "must be an integer of 32 bits" });
export const texts = listOf(text);

export function listOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z.array(item, { error: "must be a list" });
}

/** `required` is for editors. */
export function fieldsOf<Fields extends z.ZodRawShape>(fields: Fields, required: readonly string[] = []) {
  return z
    .strictObject(fields, { error: (issue) => (issue.code === "invalid_type" ? "must be an object" : undefined) })
    .meta(required.length === 0 ? {} : { required: [...required] });
}

/** The two fields that say what a file is. They have been looked at before the rest is read. */
export const header = { apiVersion: text.optional(), kind: text.optional() };
