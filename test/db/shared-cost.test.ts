import { beforeAll, expect, test } from 'vitest'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { sentDuring } from '../harness/sent.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

type Writer = Person & { beneficiary: string; grant: string; keyId: string }

const count = 8
let writers: Writer[]
beforeAll(async () => {
  writers = []
  for (let made = 0; made < count; made += 1) {
    const person = await signIn(service.api)
    const key = await createKey(person)
    writers.push({ ...person, beneficiary: await newBeneficiary(person.api), grant: key.grantId, keyId: key.id })
  }
})

let serial = 254_710_000_000
const next = (): string => {
  serial += 1
  return String(serial)
}

const writes: Readonly<Record<string, (writer: Writer) => Promise<{ status: number; text: string }>>> = {
  'beneficiaries.create': ({ api }) =>
    api.post('/v1/beneficiaries', {
      type: 'supplier',
      display_name: `Supplier ${next()}`,
      payment_rail: 'MPESA_B2C',
      destination: next(),
    }),
  'beneficiaries.update': ({ api, beneficiary }) =>
    api.patch(`/v1/beneficiaries/${beneficiary}`, { display_name: `Supplier ${next()}` }),
  'api_keys.create': ({ api }) => api.post('/v1/accounts/me/api-keys', { name: `Key ${next()}` }),
  'api_keys.update': ({ api, keyId }) => api.patch(`/v1/accounts/me/api-keys/${keyId}`, { name: `Key ${next()}` }),
  'grants.update': ({ api, grant }) =>
    api.patch(`/v1/accounts/me/grants/${grant}`, { spending_controls: { daily_limit_minor: next() } }),
}

/** How often the statement is sent that is sent most; the lookups of credentials go as the requests arrive. */
const mostSent = async (write: (typeof writes)[string]): Promise<number> => {
  const { statements } = await sentDuring(async () => {
    for (const { status, text } of await Promise.all(writers.map(write))) if (status >= 300) throw new Error(`${status} ${text}`)
  })
  const times = new Map<string, number>()
  for (const { name, text } of statements) {
    const known = name ?? text
    if (!/^(auth|work|idempotency)\./.test(known) || known.startsWith('auth.begun_by'))
      times.set(known, (times.get(known) ?? 0) + 1)
  }
  return Math.max(...times.values())
}

// The first request may begin alone, and those behind it may come in two groups.
test.each(Object.keys(writes))(
  'of eight accounts that write at once, %s asks everything of the database together',
  async (name) => {
    const write = writes[name] as (typeof writes)[string]
    let least = Number.POSITIVE_INFINITY
    for (let times = 0; times < 6 && least > 3; times += 1) least = Math.min(least, await mostSent(write))
    expect(least).toBeLessThanOrEqual(3)
  },
)
