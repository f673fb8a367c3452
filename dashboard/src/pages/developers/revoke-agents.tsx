import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { Confirm } from '../../ui/confirm.tsx'

type Props = { agents: readonly Schemas['Grant'][]; onClose: () => void }

export const RevokeAgents = ({ agents, onClose }: Props) => {
  const [only] = agents
  const one = agents.length === 1 && only
  return (
    <Confirm
      title={one ? `Revoke ${one.label}?` : `Revoke ${countWords(agents.length, 'agent')}?`}
      action="Revoke"
      change={async () => {
        for (const { id } of agents) await call(api.DELETE('/v1/accounts/me/grants/{id}', { params: { path: { id } } }))
        // Events make the page's own list shorter meanwhile: this is the one that was confirmed.
        return agents
      }}
      announcement={(revoked) => {
        const [first] = revoked
        return first && revoked.length === 1 ? `${first.label} revoked` : `${countWords(revoked.length, 'agent')} revoked`
      }}
      outdates={['grants', 'grant']}
      onClose={onClose}
    >
      <p>
        {one ? 'It loses' : 'They lose'} access right away, and so does everything {one ? 'it' : 'they'} created. To come back,{' '}
        {one ? 'it has' : 'each has'} to ask you again.
      </p>
    </Confirm>
  )
}
