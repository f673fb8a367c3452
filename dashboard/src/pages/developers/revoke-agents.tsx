import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { announce } from '../../ui/toast.tsx'

type Props = { agents: readonly Schemas['Grant'][]; onClose: () => void; onRevoked: () => void }

export const RevokeAgents = ({ agents, onClose, onRevoked }: Props) => {
  const client = useQueryClient()
  const [only] = agents
  const one = agents.length === 1 && only
  const revoke = useMutation({
    // The list is what was confirmed: while it is worked through, the page's own list grows shorter.
    mutationFn: async (confirmed: Props['agents']) => {
      for (const { id } of confirmed) await call(api.DELETE('/v1/accounts/me/grants/{id}', { params: { path: { id } } }))
    },
    onSuccess: (_, confirmed) => {
      const [first] = confirmed
      announce(first && confirmed.length === 1 ? `${first.label} revoked` : `${countWords(confirmed.length, 'agent')} revoked`)
      onRevoked()
    },
    onSettled: () => {
      for (const name of ['grants', 'grant']) void client.invalidateQueries({ queryKey: [name] })
    },
  })
  return (
    <Confirm
      title={one ? `Revoke ${one.label}?` : `Revoke all ${agents.length} agents?`}
      action="Revoke"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(agents)}
      onClose={onClose}
    >
      <p>
        {one ? 'It loses' : 'They lose'} access right away, and so does everything {one ? 'it' : 'they'} created. To come back,{' '}
        {one ? 'it has' : 'each has'} to ask you again.
      </p>
    </Confirm>
  )
}
