import { changeOperations, isObject, type Json } from '../http/openapi-walk.ts'

const hasObject = (parameter: Json): boolean => isObject(parameter.schema) && parameter.schema.type === 'object'

/** An object in a query is written `metadata[invoice]=17`. */
export const styleParameters = (document: Json): Json =>
  changeOperations(document, (operation) => {
    const { parameters } = operation
    if (!Array.isArray(parameters)) return operation
    return {
      ...operation,
      parameters: parameters.map((parameter: unknown) =>
        isObject(parameter) && parameter.in === 'query' && hasObject(parameter)
          ? { ...parameter, style: 'deepObject', explode: true }
          : parameter,
      ),
    }
  })
