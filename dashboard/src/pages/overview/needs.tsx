import { useState } from 'react'
import { Link } from 'wouter'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge } from '../../ui/status.tsx'
import { FreezeAgent } from '../agents/freeze-agent.tsx'
import { useIsFrozen } from '../agents/frozen-badge.tsx'
import { type Need, useNeeds } from './use-attention.ts'

const mostShown = 5

/** What this person can end, and below it what is only worth a look. */
export const Needs = () => {
  const { needs, looks } = useNeeds()
  const [stopping, setStopping] = useState<Agent | null>(null)
  return (
    <>
      <Group title="Needs you" needs={needs} onFreeze={setStopping} />
      <Group title="Worth a look" needs={looks} onFreeze={setStopping} />
      {stopping && <FreezeAgent id={stopping.id} label={stopping.label} own={stopping.own} onClose={() => setStopping(null)} />}
    </>
  )
}

/** The first five, each with the one act that helps; the others on a press. */
const Group = ({ title, needs, onFreeze }: { title: string; needs: readonly Need[] } & OnFreeze) => {
  const [isWhole, setWhole] = useState(false)
  if (needs.length === 0) return null
  const shown = isWhole ? needs : needs.slice(0, mostShown)
  return (
    <section className="card" aria-label={title}>
      <div className="card-header">
        <h2>{title}</h2>
      </div>
      <ul className="rows">
        {shown.map((need) => (
          <li key={need.key}>
            <Item need={need} onFreeze={onFreeze} />
          </li>
        ))}
      </ul>
      {needs.length > mostShown && (
        <div className="card-footer">
          <Button variant="quiet" size="small" expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `${needs.length - mostShown} more`}
          </Button>
        </div>
      )}
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
    <span className={`avatar tone-${tone}`}>
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
