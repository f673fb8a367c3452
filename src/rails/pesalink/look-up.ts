import { field, textField } from '../json.ts'
import { readNameAnswer } from '../names.ts'
import type { LookUp } from '../rail.ts'
import type { Send } from './gateway.ts'
import type { PesalinkOptions } from './options.ts'
import { destinationOf } from './request.ts'
import type { Sign } from './signature.ts'

/** PesaLink's account lookup: the name of the holder of an account, or of a phone that is registered for PesaLink. */
export const createLookUp =
  (options: PesalinkOptions & { lookUpPath: string }, send: Send, sign: Sign): LookUp =>
  async (query) => {
    const destination = destinationOf(options, query)
    if (!destination) return { kind: 'nameless' }
    const answer = await send({
      method: 'POST',
      path: options.lookUpPath,
      body: { countryCode: options.source.countryCode, ...destination.fields },
      signature: sign(`${options.source.accountNumber}${query.destination}`),
    })
    return readNameAnswer(answer, (body) => textField(field(body, 'data'), 'receiverName'))
  }
