import type { ComponentProps, ReactNode } from 'react'
import type { Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/layout.tsx'
import { AgentTimeline } from '../agents/agent-timeline.tsx'
import { MadeByAgent } from '../agents/made-by-agent.tsx'
import { GrantAside } from './grant-aside.tsx'
import { GrantLimits } from './grant-limits.tsx'
import { GrantPayments } from './grant-payments.tsx'

type ActionsProps = { frozen: boolean; onFreeze: () => void; onRevoke: () => void; children?: ReactNode }

export const GrantActions = ({ frozen, onFreeze, onRevoke, children }: ActionsProps) => (
  <>
    <Button icon="freeze" onClick={onFreeze}>
      {frozen ? 'Unfreeze' : 'Freeze'}
    </Button>
    {children}
    <Button variant="danger" onClick={onRevoke}>
      Revoke
    </Button>
  </>
)

type Props = Pick<ComponentProps<typeof GrantAside>, 'facts'> & {
  grant: Schemas['Grant']
  live: boolean
  /** Who ends a freeze, as the sentence goes on. */
  until: string
  limitActions?: ReactNode
}

/** A key or an agent, for its owner and for who manages the workspace: its state, limits, payments and details. */
export const GrantView = ({ grant, live, until, facts, limitActions }: Props) => (
  <>
    {grant.frozen && live && (
      <Notice tone="info" title="Frozen">
        <p className="quiet">It can still read, but it can’t move money {until}.</p>
      </Notice>
    )}
    {!live && <Notice title={grant.kind === 'oauth' ? 'This agent was revoked' : 'This key no longer works'} />}
    <div className="split">
      <div className="stack">
        <GrantLimits grant={grant} actions={limitActions} />
        <AgentTimeline grant={grant} />
        <MadeByAgent grantId={grant.id} label={grant.label} />
        <GrantPayments grant={grant} />
      </div>
      <GrantAside grant={grant} facts={facts} />
    </div>
  </>
)
