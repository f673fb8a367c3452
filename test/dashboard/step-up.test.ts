import { expect, test } from 'vitest'
import { stepUp, withProof } from '../../dashboard/src/api/step-up.ts'

const refused = () => Response.json({ error: 'step_up_required' }, { status: 403 })

/** Lets everything happen that waits for no person. */
const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}

test('requests that are refused at the same time wait for one proof and are all sent again; those of the dialog are not', async () => {
  const hide = stepUp.subscribe(() => undefined)
  let isProven = false
  const request = () => withProof(async () => (isProven ? Response.json({}) : refused()))
  const together = [request(), request()]
  await settled()
  const asked = stepUp.get()
  expect((await request()).status).toBe(403)
  expect(stepUp.get()).toBe(asked)
  isProven = true
  asked?.answer(true)
  expect((await Promise.all(together)).map(({ status }) => status)).toEqual([200, 200])
  expect(stepUp.get()).toBeNull()
  hide()
})

test('a person who declines leaves each request its error, and the next request asks again', async () => {
  const hide = stepUp.subscribe(() => undefined)
  for (let round = 0; round < 2; round += 1) {
    const together = [withProof(async () => refused()), withProof(async () => refused())]
    await settled()
    stepUp.get()?.answer(false)
    expect((await Promise.all(together)).map(({ status }) => status)).toEqual([403, 403])
  }
  hide()
})
