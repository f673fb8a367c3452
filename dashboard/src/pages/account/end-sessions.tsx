import { type ReactNode, useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { type BeganHere, endQuery, outdatedByEnd, type useBegan, WasItStolen } from './began-here.tsx'

const byId = <Row extends { id: string }>(one: readonly Row[], other: readonly Row[]): Row[] => [
  ...new Map([...one, ...other].map((row) => [row.id, row])).values(),
]

const merged = (one: Schemas['BeganHere'], other: Schemas['BeganHere']): Schemas['BeganHere'] => ({
  identities: byId(one.identities, other.identities),
  passkeys: byId(one.passkeys, other.passkeys),
  api_keys: byId(one.api_keys, other.api_keys),
  grants: byId(one.grants, other.grants),
  invitations: byId(one.invitations, other.invitations),
})

/** What began in any of them is one list. Sessions that have ended can be ended again, with everything that began there. */
const endEach = async (ids: readonly string[], everything: boolean): Promise<BeganHere> => {
  let began: BeganHere = null
  for (const id of ids) {
    const params = { path: { id }, query: endQuery(everything) }
    const { began_here: here } = await call(api.DELETE('/v1/accounts/me/sessions/{id}', { params }))
    began = began && here ? merged(began, here) : (began ?? here)
  }
  return began
}

type Props = {
  title: string
  action: string
  /** Which sessions, by id. */
  find: () => Promise<string[]>
  onEnded: ReturnType<typeof useBegan>['show']
  onClose: () => void
  children: ReactNode
}

export const EndSessions = ({ title, action, find, onEnded, onClose, children }: Props) => {
  const [stolen, setStolen] = useState(false)
  return (
    <Confirm
      title={title}
      action={stolen ? 'End all of it' : action}
      change={async () => {
        const ids = await find()
        return { ids, began: await endEach(ids, stolen) }
      }}
      announcement={({ ids }) =>
        ids.length === 0 ? 'You aren’t signed in anywhere else' : `${countWords(ids.length, 'session')} ended`
      }
      outdates={outdatedByEnd}
      onChanged={({ ids, began }) => onEnded({ began, everything: stolen, endAll: () => endEach(ids, true) })}
      onClose={onClose}
    >
      {children}
      <WasItStolen stolen={stolen} onChange={setStolen} />
    </Confirm>
  )
}
