/** How the outcome of an order is reported. */
export type Telling =
  | 'once'
  | 'lost'
  | 'thrice'
  | 'late'
  | 'other_amount'
  | 'other_id'
  | 'forged_first'
  | 'contradicted'
  | 'after_the_next'
  | 'never'

/** What the sandbox plays for a destination. `code` "0" moves the money. `losesAnswer`: the submit's connection is cut. */
export type Play = { code: string; telling: Telling; losesAnswer: boolean }

const play = (telling: Telling, more: Partial<Play> = {}): Play => ({ code: '0', telling, losesAnswer: false, ...more })

const scenes: Readonly<Record<string, Play>> = {
  '254711000001': play('lost'),
  '254711000002': play('thrice'),
  '254711000003': play('late'),
  '254711000004': play('once', { losesAnswer: true }),
  '254711000005': play('other_amount'),
  '254711000006': play('forged_first'),
  '254711000007': play('contradicted'),
  '254711000008': play('lost', { losesAnswer: true }),
}

/** 4999 is the code for "under way": such an order never ends. */
const ofCode = (digits: string): Play => {
  const code = digits.replace(/^0+(?=\d)/, '')
  return play(code === '4999' ? 'never' : 'once', { code })
}

const magic = [/^25470000(\d{4})$/, /^999(\d{4})$/, /^9999(\d{4})$/]

/** Phones, paybills, tills and accounts have lengths of their own, so one look-up serves them all. */
export const playFor = (destination: string): Play => {
  const scene = Object.hasOwn(scenes, destination) ? scenes[destination] : undefined
  if (scene) return scene
  for (const pattern of magic) {
    const digits = pattern.exec(destination)?.[1]
    if (digits !== undefined) return ofCode(digits)
  }
  return play('once')
}
