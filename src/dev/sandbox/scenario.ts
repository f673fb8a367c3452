import type { EffectOn } from './rules.ts'

/** How the outcome of an order is reported. */
type Reporting = 'once' | EffectOn<'report'>

/** The sandbox's behaviour for a destination. Code "0" moves the money. `losesAnswer`: the submission gets no response. */
export type Scenario = { code: string; reporting: Reporting; losesAnswer: boolean }

export const scenario = (reporting: Reporting, more: Partial<Scenario> = {}): Scenario => ({
  code: '0',
  reporting,
  losesAnswer: false,
  ...more,
})

const magicPhones = new Map<string, Scenario>([
  ['254711000001', scenario('lose_callback')],
  ['254711000002', scenario('duplicate')],
  ['254711000003', scenario('late')],
  ['254711000004', scenario('once', { losesAnswer: true })],
  ['254711000005', scenario('wrong_amount')],
  ['254711000006', scenario('forge')],
  ['254711000007', scenario('contradict')],
  ['254711000008', scenario('lose_callback', { losesAnswer: true })],
])

/** Phones, paybills, tills and accounts differ in length, so one pattern covers all of them. */
const magicCode = /^(?:25470000|9999?)(\d{4})$/

export const scenarioFor = (destination: string): Scenario => {
  const code = magicCode.exec(destination)?.[1]?.replace(/^0+(?=\d)/, '')
  // 4999 means in progress, so such an order never ends.
  const ofCode = code === undefined ? scenario('once') : scenario(code === '4999' ? 'never_end' : 'once', { code })
  return magicPhones.get(destination) ?? ofCode
}
