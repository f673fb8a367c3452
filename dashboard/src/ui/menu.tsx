import { type ReactNode, useEffect, useRef, useState } from 'react'
import { cx } from '../lib/class-names.ts'

type MenuProps = { label: string; button: ReactNode; children: (close: () => void) => ReactNode; up?: boolean; right?: boolean }

const itemsOf = (list: HTMLElement | null): HTMLElement[] => (list ? [...list.querySelectorAll<HTMLElement>('.menu-item')] : [])

/** A button with a short list under it. Arrows move, Escape and a click elsewhere close. */
export const Menu = ({ label, button, children, up = false, right = false }: MenuProps) => {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const trigger = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (!open) return undefined
    itemsOf(list.current)[0]?.focus()
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false)
    }
    addEventListener('pointerdown', onPointer)
    return () => removeEventListener('pointerdown', onPointer)
  }, [open])

  const close = () => {
    setOpen(false)
    trigger.current?.focus()
  }
  const move = (step: number) => {
    const items = itemsOf(list.current)
    const at = document.activeElement instanceof HTMLElement ? items.indexOf(document.activeElement) : -1
    items.at((at + step) % items.length)?.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the list inside
    <div
      className="menu"
      ref={root}
      onKeyDown={(event) => {
        if (!open) return
        if (event.key === 'Escape') close()
        else if (event.key === 'ArrowDown') move(1)
        else if (event.key === 'ArrowUp') move(-1)
        else return
        event.preventDefault()
      }}
    >
      <button
        ref={trigger}
        type="button"
        className="menu-button"
        aria-label={label}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <div ref={list} className={cx('menu-list', up && 'menu-up', right && 'menu-right')}>
          {children(close)}
        </div>
      )}
    </div>
  )
}
