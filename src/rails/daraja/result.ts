import { asList, asText, field, textField } from '../json.ts'
import type { ProviderReference } from '../rail.ts'

/** A parsed `Result` delivery. Parameters are found by name: their order and number vary, and so does whether they are a list. */
export type Result = {
  code: string | undefined
  transactionId: string | undefined
  provider: ProviderReference
  parameter: (name: string) => string | undefined
}

/** The first entry of that name with a value: names occur twice, and values may be missing. */
const named = (list: unknown, nameField: 'Key' | 'Name', name: string): string | undefined => {
  for (const item of asList(list)) {
    if (textField(item, nameField) !== name) continue
    const value = asText(field(item, 'Value'))
    if (value !== undefined) return value
  }
  return undefined
}

export const readResult = (body: unknown): Result | undefined => {
  const result = field(body, 'Result')
  if (field(result, 'ResultCode') === undefined) return undefined
  const parameters = field(field(result, 'ResultParameters'), 'ResultParameter')
  return {
    code: textField(result, 'ResultCode'),
    transactionId: textField(result, 'TransactionID'),
    provider: {
      request: textField(result, 'OriginatorConversationID') ?? null,
      conversation: textField(result, 'ConversationID') ?? null,
    },
    parameter: (name) => named(parameters, 'Key', name),
  }
}

/** An STK callback's metadata, also found by name. */
export const metadataItem = (callback: unknown, name: string): string | undefined =>
  named(field(field(callback, 'CallbackMetadata'), 'Item'), 'Name', name)
