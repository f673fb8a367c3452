import type { ReactNode } from 'react'
import type { Schemas } from '../../api/types.ts'
import { Card } from '../../ui/layout.tsx'
import { GrantUsage } from './grant-usage.tsx'
import { LimitFacts } from './limit-facts.tsx'

type Props = { grant: Pick<Schemas['Grant'], 'usage' | 'spending_controls'>; actions?: ReactNode }

/** What a key or an agent may spend, and what it has spent of that. */
export const GrantLimits = ({ grant, actions }: Props) => (
  <Card title="Limits" note="Payments on their way or waiting for approval count as used." actions={actions}>
    <div className="stack">
      <GrantUsage grant={grant} />
      <LimitFacts grant={grant} />
    </div>
  </Card>
)
