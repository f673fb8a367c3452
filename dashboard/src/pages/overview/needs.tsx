import { useState } from 'react'
import { Link } from 'wouter'
import { countWords } from '../../lib/list-words.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge } from '../../ui/status.tsx'
import { StopAgent } from '../agents/stop-agent.tsx'
import { useIsFrozen } from '../agents/use-frozen.ts'
import { type Need, useNeeds } from './use-attention.ts'

const mostShown = 5

/** At most five things, each with the one act that helps. */
export const Needs = () => {
  const needs = useNeeds()
  const [stopping, setStopping] = useState<Agent | null>(null)
  if (needs.length === 0) return null
  const shown = needs.slice(0, mostShown)
  return (
    <section className="card" aria-label="Needs you">
      <div className="card-header">
        <h2>Needs you</h2>
        {needs.length > shown.length && <p>and {countWords(needs.length - shown.length, 'more thing', 'more things')}</p>}
      </div>
      <ul className="rows">
        {shown.map((need) => (
          <li key={need.key}>
            <Item need={need} onFreeze={setStopping} />
          </li>
        ))}
      </ul>
      {stopping && <StopAgent id={stopping.id} label={stopping.label} own={stopping.own} onClose={() => setStopping(null)} />}
    </section>
  )
}

type Agent = Extract<Need['action'], { freeze: unknown }>['freeze']
type OnFreeze = { onFreeze: (agent: Agent) => void }
type ItemProps = { need: Need } & OnFreeze

const Freeze = ({ agent, onFreeze }: { agent: Agent } & OnFreeze) =>
  useIsFrozen(agent.by) ? (
    <Badge tone="info">Frozen</Badge>
  ) : (
    <Button size="small" icon="freeze" label={`Freeze ${agent.label}`} onClick={() => onFreeze(agent)}>
      Freeze
    </Button>
  )

const Item = ({ need: { tone, icon, title, note, action, more }, onFreeze }: ItemProps) => (
  <div className="item need">
    <span className={`avatar avatar-${tone}`}>
      <Icon name={icon} />
    </span>
    <div className="item-main">
      <p className="item-title">{title}</p>
      <p className="item-note">
        {note} {more && <Link href={more.href}>{more.label}</Link>}
      </p>
    </div>
    {'freeze' in action ? (
      <Freeze agent={action.freeze} onFreeze={onFreeze} />
    ) : (
      <LinkButton href={action.href} size="small">
        {action.label}
      </LinkButton>
    )}
  </div>
)
