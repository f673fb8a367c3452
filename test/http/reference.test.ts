import { readFileSync, writeFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import examples from '../../docs/openapi/examples.json' with { type: 'json' }
import { codesFile, codesText } from '../../scripts/codes.ts'
import { eventFamilies } from '../../scripts/docs/events.ts'
import type { Example } from '../../scripts/docs/reference.ts'
import { tags } from '../../scripts/docs/tags.ts'
import { eventTypes } from '../../src/events/types.ts'
import { startAdministered } from '../admin/administrators.ts'
import type { Json } from '../harness/client.ts'
import { resolveParts } from '../harness/document.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { createTeam } from '../workspaces/team.ts'
import { lasting, playExamples, redacted } from './example-scene.ts'

let service: TestService
let administrators: readonly [Person, Person]
let person: Person
let document: Json
beforeAll(async () => {
  const administered = await startAdministered()
  service = administered.service
  administrators = [administered.admin, administered.second]
  person = await signIn(service.api)
  document = resolveParts((await service.api.get('/openapi.json')).body)
})
afterAll(() => service.close())

const exampleOf = (operation: string) => (examples as Record<string, Example>)[operation]

const operations = () =>
  Object.entries<Record<string, Json>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, id: String(operation.operationId), operation })),
  )

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const validatorOf = (name: string) => ajv.compile({ $ref: `openapi.json#/components/schemas/${name}` })

/** Newly recorded examples are not in the document yet. */
const isRecording = Boolean(process.env.RECORD_EXAMPLES)
const howToRecord = 'call it in test/http/example-scene.ts, then run RECORD_EXAMPLES=1 npm test -- test/http/reference.test.ts'

describe('every operation', () => {
  test('has a summary, a text, and a group that is described', () => {
    for (const { id, operation } of operations()) {
      expect([id, operation.summary.length > 5, operation.tags]).toEqual([
        id,
        true,
        [expect.toBeOneOf(tags.map(({ name }) => name))],
      ])
      expect([id, operation.description.length > 40]).toEqual([id, true])
    }
    const known = new Set<string>(operations().map(({ id }) => id))
    expect(Object.keys(examples).filter((id) => !known.has(id))).toEqual([])
  })

  test.skipIf(isRecording)('shows one real request and answer', () => {
    for (const { id, operation } of operations()) {
      const example = exampleOf(id)
      expect([id, example !== undefined], howToRecord).toEqual([id, true])
      const [body] = Object.values<Json>(operation.requestBody?.content ?? {})
      if (operation.requestBody?.required) expect([id, body?.example]).toEqual([id, expect.anything()])
      const answer = operation.responses[String(example?.status)]
      expect([id, answer !== undefined]).toEqual([id, true])
      for (const media of ['application/json', 'text/event-stream'])
        if (answer.content?.[media]) expect([id, answer.content[media].example]).toEqual([id, expect.anything()])
      if (example?.status === 302 || example?.status === 303)
        expect([id, answer.headers.Location.example]).toEqual([id, expect.any(String)])
      for (const parameter of operation.parameters ?? [])
        if (parameter.required) expect([id, parameter.name, parameter.example]).toEqual([id, parameter.name, expect.anything()])
    }
  })

  test('has a name for its body and for what it answers', () => {
    const anonymous = operations().flatMap(({ id, operation }) =>
      [
        operation.requestBody,
        ...Object.entries<Json>(operation.responses).flatMap(([status, answer]) => (status < '3' ? answer : [])),
      ]
        .flatMap((part) => Object.entries<Json>(part?.content ?? {}))
        .filter(([media, { schema }]) => media !== 'text/event-stream' && media !== 'text/csv' && schema.$ref === undefined)
        .map(() => id),
    )
    expect(anonymous, 'name it by `.meta({ id })` of its schema').toEqual([])
  })
})

test('every example is what the service answers: the story of example-scene.ts, recorded (RECORD_EXAMPLES=1 records it again)', async () => {
  const recordedStory = await playExamples(service, operations(), administrators)
  const expected = operations().map(({ id }) => id)
  expect(Object.keys(recordedStory).toSorted(), howToRecord).toEqual(expected.toSorted())
  if (isRecording) {
    // Unchanged examples stay as they are, so that the difference shows only the changes.
    const isSame = (id: string) => JSON.stringify(lasting(exampleOf(id))) === JSON.stringify(lasting(recordedStory[id]))
    const entries = expected.toSorted().map((id) => [id, isSame(id) ? exampleOf(id) : redacted(recordedStory[id])])
    const text = JSON.stringify(Object.fromEntries(entries), null, 2)
    writeFileSync(new URL('../../docs/openapi/examples.json', import.meta.url), `${text}\n`)
    return
  }
  for (const id of expected) expect([id, lasting(exampleOf(id))]).toEqual([id, lasting(recordedStory[id])])
  // This proves that the comparison finds a difference.
  expect(lasting(exampleOf('topups.get'))).not.toEqual(lasting(recordedStory['topups.initiate']))
})

test('no sample request of /docs is refused because of its shape', async () => {
  for (const { id, path, method, operation } of operations()) {
    const sample = Object.entries<Json>(operation.requestBody?.content ?? {})[0]
    if (sample?.[0] !== 'application/json' || sample[1].example === undefined) continue
    const concrete = path.replace('/{id}', '/pay_01h455vb4pex5vsknk084sn02q')
    const answer = await person.api.call(method.toUpperCase(), concrete, { body: sample[1].example })
    const fields: { path: string; message: string }[] = answer.body?.details?.fields ?? []
    // The ids and times in a sample belong to another database.
    const wrong = fields.filter(({ message }) => !/is not a beneficiary|must be in the future|has passed/.test(message))
    expect([id, answer.status === 400 ? wrong : []]).toEqual([id, []])
  }
})

describe('events', () => {
  test('every type is of one family, with the resource that REST returns', () => {
    expect(eventFamilies.flatMap(({ types }) => types).sort()).toEqual([...eventTypes].sort())
    const refOf = (data: string) => ({ $ref: `#/components/schemas/${data}` })
    for (const { name, data } of eventFamilies) {
      const shown = document.components.schemas[name].properties.data
      expect(shown.anyOf ?? [{ $ref: shown.$ref }]).toEqual(data.map(refOf))
    }
    expect(Object.keys(document.components.schemas.Event.discriminator.mapping).sort()).toEqual([...eventTypes].sort())
    expect(document.components.schemas.StreamEvent.discriminator.mapping['stream.reset']).toBe(
      '#/components/schemas/StreamResetEvent',
    )
  })

  test('every published event is valid by the document', async () => {
    ajv.addSchema(document, 'openapi.json')
    const valid = validatorOf('Event')
    const sent = validatorOf('StreamEvent')
    const stream: string = document.paths['/v1/notifications/stream'].get.responses[200].content['text/event-stream'].example
    const shownEvents = [...stream.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, type, data]) => [
      type,
      JSON.parse(data ?? ''),
    ])
    expect(shownEvents.map(([type]) => type)).toEqual(['stream.reset', 'topup.succeeded', 'balance.updated'])
    for (const [type, event] of shownEvents) expect([type, event.type, sent(event)]).toEqual([type, type, true])
    const person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
    const beneficiary = await newBeneficiary(person.api)
    const key = await createKey(person)
    await createMandate(service, person.wallet)
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })
    await key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
    const held = await key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '60000' })
    await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'approve' })
    await person.api.post('/v1/topups/initiate', { amount_minor: '10000', phone_number: '0712345678' })
    await service.settle()
    await person.api.post('/v1/workspaces/current/freeze', {})
    await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
    const own: Json[] = (await person.api.get('/v1/notifications?limit=100')).body.data
    const team = await createTeam(service)
    await fund(service, team.owner, 10_000n)
    const ofTeam: Json[] = (await team.owner.api.get('/v1/notifications?type=balance.updated')).body.data
    expect(ofTeam.map(({ data }) => data.id)).toContain(team.id)
    const events = [...own, ...ofTeam]
    expect(new Set(events.map(({ type }) => type.split('.')[0])).size).toBeGreaterThan(8)
    for (const event of events) expect([event.type, valid(event), valid.errors]).toEqual([event.type, true, null])
    const wrong = { ...events.find(({ type }) => type === 'payment.created'), data: { id: 'pay_1' } }
    expect(valid(wrong)).toBe(false)
  })
})

test('every closed list has a name, and is in the document once', () => {
  const lists = Object.entries<Json>(document.components.schemas)
    .filter(([, schema]) => schema.type === 'string' && schema.enum?.length > 4)
    .map(([, schema]) => JSON.stringify([...schema.enum].sort()))
  expect(new Set(lists).size).toBe(lists.length)
  expect(lists.length).toBeGreaterThan(5)
  const text = JSON.stringify({ ...document, components: { ...document.components, schemas: {} } })
  expect(text).not.toContain('"account.read","account.manage"')
})

test('integers have bounds', () => {
  const unbounded: string[] = []
  const visit = (node: Json, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    if (node.type === 'integer' && (node.minimum === undefined || node.maximum === undefined)) unbounded.push(at)
    for (const [name, entry] of Object.entries(node)) if (name !== 'example') visit(entry, `${at}/${name}`)
  }
  visit(document.components.schemas, '')
  visit(
    Object.values<Json>(document.paths).flatMap((item) => Object.values<Json>(item).map(({ parameters }) => parameters)),
    '',
  )
  expect(unbounded).toEqual([])
})

test('docs/codes.md agrees with the code (npm run codes)', () => {
  expect(readFileSync(codesFile, 'utf8')).toBe(codesText())
})
