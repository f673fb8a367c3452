import { api, call } from '../../api/client.ts'
import { countWords } from '../../lib/list-words.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { freezeOutdates, setFrozen } from './freeze-call.ts'
import type { Agent } from './use-agents.ts'

type Props = { agents: readonly Agent[]; manages: boolean; onClose: () => void }

/** One act that stops all of them: of the whole workspace for who manages it, else one's own. */
export const StopAll = ({ agents, manages, onClose }: Props) => (
  <Confirm
    title={`Stop ${countWords(agents.length, 'agent')}?`}
    action="Stop all"
    change={async () => {
      if (manages) return (await call(api.POST('/v1/workspaces/current/grants/freeze'))).frozen
      for (const { id } of agents) await setFrozen(id, true, true)
      return agents.length
    }}
    announcement={(count) => `${countWords(count, 'agent')} frozen`}
    outdates={freezeOutdates}
    onClose={onClose}
  >
    <p>
      No key and no agent {manages ? 'of any member of this workspace' : 'of yours in this workspace'} can move money until it is
      unfrozen. They can still read. Payments already sent still arrive.
    </p>
  </Confirm>
)
