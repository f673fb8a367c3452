import type { Json } from './client.ts'

/** The API document with named parameters and refusals put into the operations, for a reader of one operation. */
export const resolveParts = (document: Json): Json => {
  const { parameters, responses } = document.components
  const resolved = ({ $ref, ...own }: Json, parts: Json): Json => ($ref ? { ...parts[$ref.split('/').at(-1)], ...own } : own)
  const whole = structuredClone(document)
  for (const item of Object.values<Json>(whole.paths))
    for (const operation of Object.values<Json>(item)) {
      operation.parameters &&= operation.parameters.map((one: Json) => resolved(one, parameters))
      for (const status of Object.keys(operation.responses))
        operation.responses[status] = resolved(operation.responses[status], responses)
    }
  return whole
}
