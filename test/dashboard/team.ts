import type { CallOptions, Client } from '../harness/client.ts'
import { credit, newBeneficiary, shareBalance } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

export type Team = {
  workspaceId: string
  owner: Person
  /** Calls the API as a member in the team's workspace, whatever their session's workspace. */
  within: (person: Person) => Client
  join: (role: string, name: string) => Promise<Person>
  /** Paid payments to the team's payee, so that the next one is not the first, and the usual amount, KES 300, is known. */
  payUsually: () => Promise<void>
  /** Creates payments of these amounts that wait for an approval. Returns the approvals' ids. */
  hold: (...amounts: readonly string[]) => Promise<string[]>
}

/** The same client with a workspace named in its requests. */
const inWorkspace = (client: Client, id: string): Client => {
  const named = (options: CallOptions = {}): CallOptions => ({ ...options, headers: { 'workspace-id': id, ...options.headers } })
  return {
    ...client,
    get: (path, options) => client.get(path, named(options)),
    post: (path, body, options) => client.post(path, body, named(options)),
  }
}

/** A team's workspace beside the members' personal ones, in which payments wait for another member's approval. */
export const createTeam = async (service: TestService, { isShared = false } = {}): Promise<Team> => {
  const owner = await signIn(service.api)
  await owner.api.patch('/v1/accounts/me', { display_name: 'Wanjiku Kamau' })
  const workspaceId = (await owner.api.post('/v1/workspaces', { name: 'Savannah Coffee' })).body.workspace.id
  if (isShared) await shareBalance(service, workspaceId)
  await credit(service, workspaceId, 10_000_000n)
  const within = (person: Person) => inWorkspace(person.api, workspaceId)
  const api = within(owner)
  const roaster = await newBeneficiary(api, { display_name: 'Roastery Kiambu' })
  await api.post('/v1/spending-policies', { name: 'Team rules', approval_threshold_minor: '100000', separation_of_duties: true })
  return {
    workspaceId,
    owner,
    within,
    join: async (role, name) => {
      const person = await signIn(service.api)
      await person.api.patch('/v1/accounts/me', { display_name: name })
      const { token } = (await api.post('/v1/workspaces/current/invitations', { role })).body
      const joined = await person.api.post('/v1/workspaces/invitations/accept', { token })
      if (joined.status !== 200) throw new Error(joined.text)
      return person
    },
    payUsually: async () => {
      for (const amount_minor of ['29000', '30000', '31000']) {
        const paid = await api.post('/v1/payments', { beneficiary_id: roaster, amount_minor })
        if (paid.status !== 201) throw new Error(paid.text)
      }
      await service.settle()
    },
    hold: async (...amounts) => {
      const ids: string[] = []
      for (const amount of amounts) {
        const paid = await api.post('/v1/payments', { beneficiary_id: roaster, amount_minor: amount, narrative: 'Green beans' })
        if (paid.status !== 201) throw new Error(paid.text)
        ids.push(paid.body.approval_id)
      }
      return ids
    },
  }
}
