import { useState } from 'react'
import { Link } from 'wouter'
import { countWords } from '../../lib/list-words.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { StopAgent } from '../agents/stop-agent.tsx'
import { type Need, useNeeds } from './use-attention.ts'

const mostShown = 5

/** At most five things, each with the one act that helps. */
export const Needs = () => {
  const needs = useNeeds()
  const [stopping, setStopping] = useState<{ id: string; label: string; own: boolean } | null>(null)
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
      {stopping && <StopAgent {...stopping} onClose={() => setStopping(null)} />}
    </section>
  )
}

type ItemProps = { need: Need; onFreeze: (agent: { id: string; label: string; own: boolean }) => void }

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
      <Button size="small" icon="freeze" label={`Freeze ${action.freeze.label}`} onClick={() => onFreeze(action.freeze)}>
        Freeze
      </Button>
    ) : (
      <LinkButton href={action.href} size="small">
        {action.label}
      </LinkButton>
    )}
  </div>
)
