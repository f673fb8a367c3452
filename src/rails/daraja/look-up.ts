import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { field, textField } from '../json.ts'
import { nairobiTimestamp } from '../nairobi-time.ts'
import { readNameAnswer } from '../names.ts'
import type { LookUp } from '../rail.ts'
import type { Post } from './gateway.ts'
import type { DarajaOptions } from './options.ts'

/** The first name in full, the others masked: `{firstName: "WANJIRU", middleName: "N****", lastName: "K****"}`. */
const subscriberIn = (answer: unknown): string | undefined => {
  const body = field(answer, 'body')
  const parts = ['firstName', 'middleName', 'lastName'].flatMap((part) => textField(body, part) ?? [])
  return parts.length === 0 ? undefined : parts.join(' ')
}

const organisationIn = (answer: unknown): string | undefined => textField(answer, 'OrganizationName')

/** M-PESA's two queries for names: of a subscriber, and of an organisation by its paybill or till. Both answer at once. */
export const createLookUp =
  (options: DarajaOptions, post: Post, clock: Clock): LookUp =>
  async ({ rail, destination, isPaybill }) =>
    rail === 'MPESA_B2C'
      ? readNameAnswer(
          await post('/mpesa/b2c/hakikisha/v1/hakikisha', {
            header: { requestID: randomUUID(), timestamp: nairobiTimestamp(clock.now()) },
            body: { msisdn: destination, shortcode: options.b2cShortcode ?? options.shortcode },
          }),
          subscriberIn,
        )
      : readNameAnswer(
          await post('/sfcverify/v1/query/info', { IdentifierType: isPaybill ? '4' : '2', Identifier: destination }),
          organisationIn,
        )
