import { type RefObject, useEffect } from 'react'

/** While something is unfolded: Escape inside it and a press elsewhere fold it. Escape gives the focus back to its button. */
export const useDismiss = (
  open: boolean,
  setOpen: (open: boolean) => void,
  { root, trigger }: { root: RefObject<HTMLElement | null>; trigger: RefObject<HTMLElement | null> },
): void => {
  useEffect(() => {
    const inside = root.current
    if (!open || !inside) return undefined
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && !inside.contains(event.target)) setOpen(false)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      setOpen(false)
      trigger.current?.focus()
    }
    addEventListener('pointerdown', onPointer)
    inside.addEventListener('keydown', onKey)
    return () => {
      removeEventListener('pointerdown', onPointer)
      inside.removeEventListener('keydown', onKey)
    }
  }, [open, setOpen, root, trigger])
}
