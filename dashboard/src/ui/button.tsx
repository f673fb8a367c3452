import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { cx } from '../lib/class-names.ts'
import { Icon, type IconName } from './icon.tsx'

export type ButtonVariant = 'primary' | 'secondary' | 'ghost' | 'danger' | 'red'

type Look = { variant?: ButtonVariant; size?: 'small' | 'normal' | 'large'; icon?: IconName; wide?: boolean }

const classOf = ({ variant = 'secondary', size = 'normal', wide = false }: Look) =>
  cx('button', `button-${variant}`, size !== 'normal' && `button-${size}`, wide && 'button-wide')

type ButtonProps = Look & {
  children: ReactNode
  onClick?: () => void
  type?: 'button' | 'submit'
  /** Replaces the icon. */
  mark?: ReactNode
  /** Whether the request is under way. A busy button keeps its place and focus, and does nothing. */
  busy?: boolean
  disabled?: boolean
  describedBy?: string
  label?: string
  lang?: string
  /** Whether the part that the button unfolds is open. */
  expanded?: boolean
}

const Spinner = () => <span className="spinner" aria-hidden="true" />

/** Disabled buttons stay focusable, so that keyboard users do not lose their place when a button becomes busy. */
export const Button = ({
  children,
  onClick,
  type = 'button',
  busy = false,
  disabled = false,
  icon,
  mark = icon && <Icon name={icon} size={16} />,
  describedBy,
  label,
  lang,
  expanded,
  ...look
}: ButtonProps) => (
  <button
    type={type}
    className={classOf(look)}
    aria-disabled={disabled || busy || undefined}
    aria-busy={busy || undefined}
    aria-describedby={describedBy}
    aria-label={label}
    lang={lang}
    aria-expanded={expanded}
    onClick={(event) => {
      if (disabled || busy) return event.preventDefault()
      onClick?.()
    }}
  >
    {busy ? <Spinner /> : mark}
    {children}
  </button>
)

export const LinkButton = ({ href, children, icon, ...look }: Look & { href: string; children: ReactNode }) => (
  <Link href={href} className={classOf(look)}>
    {icon && <Icon name={icon} size={16} />}
    {children}
  </Link>
)

type WayProps = Pick<ButtonProps, 'children' | 'mark' | 'disabled'> & { onClick: () => void; busy?: boolean }

type FoldProps = { open: boolean; onChange: (open: boolean) => void; words: readonly [folded: string, open: string] }

export const FoldButton = ({ open, onChange, words }: FoldProps) => (
  <Button size="small" variant="ghost" expanded={open} onClick={() => onChange(!open)}>
    {words[open ? 1 : 0]}
  </Button>
)

/** Button for one of several ways to continue. The marks come first, aligned. */
export const MethodButton = ({ mark, disabled = false, busy = false, onClick, children }: WayProps) => (
  <button
    type="button"
    className={cx(classOf({ size: 'large', wide: true }), 'button-way')}
    aria-disabled={disabled || busy || undefined}
    aria-busy={busy || undefined}
    onClick={() => {
      if (!disabled && !busy) onClick()
    }}
  >
    <span className="avatar">{mark}</span>
    <span className="grow">{children}</span>
    {busy ? <Spinner /> : <Icon name="forward" size={16} />}
  </button>
)

export const ToggleChip = ({ on, onClick, children }: { on: boolean; onClick: () => void; children: string }) => (
  <button type="button" className="chip chip-button" aria-pressed={on} onClick={onClick}>
    {children}
  </button>
)

export const Submit = (look: Omit<ButtonProps, 'type' | 'variant'>) => <Button type="submit" variant="primary" {...look} />

export const NewLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <LinkButton href={href} variant="primary" icon="plus">
    {children}
  </LinkButton>
)

export const IconButton = ({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) => (
  <button type="button" className="button button-ghost button-icon" aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} />
  </button>
)
