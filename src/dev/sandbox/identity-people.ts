import { createHash } from 'node:crypto'

/** A person with an account at every provider that the sandbox simulates. */
export type SandboxPerson = { name: string; email: string; verified: boolean }

/** The people on the page. One has an address that was never verified: sign-in must not trust it. */
export const people: readonly SandboxPerson[] = [
  { name: 'Amina Otieno', email: 'amina@example.com', verified: true },
  { name: 'Brian Kamau', email: 'brian@example.com', verified: true },
  { name: 'Chao Wanjiru', email: 'chao@example.com', verified: true },
  { name: 'Dalia Njeri', email: 'dalia@example.com', verified: false },
]

/** The same person has the same subject in every run. */
const digestOf = (person: SandboxPerson): Buffer => createHash('sha256').update(person.email.toLowerCase()).digest()

export const googleSubjectOf = (person: SandboxPerson): string =>
  `1${digestOf(person).readBigUInt64BE(0).toString().padStart(20, '0')}`
export const githubIdOf = (person: SandboxPerson): number => digestOf(person).readUIntBE(0, 5) + 1
export const githubLoginOf = (person: SandboxPerson): string =>
  person.email.split('@')[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? 'somebody'
