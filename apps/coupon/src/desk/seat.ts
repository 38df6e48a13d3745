export const deskRoles = ['editor', 'reviewer'] as const;
export type DeskRole = (typeof deskRoles)[number];

export interface Seat {
  couponId: number;
  role: DeskRole;
}

export interface Sitter {
  userId: string;
  sessionId: string;
}

/** A seat is a lock. */
export const seatKey = ({ couponId, role }: Seat): string => `desk:${couponId}:${role}`;

/** Whose lock it is: what stands in its token before the random part. */
export const ownerOf = ({ userId, sessionId }: Sitter): string => `${userId}:${sessionId}`;

// The id of a user may hold colons; what comes after it does not.
const TOKEN = /^(.*):([^:]*):[^:]*$/s;

/** Who sits there, read from the token of the lock. A token that no desk has written is somebody all the same. */
export function sitterOf(token: string): Sitter {
  const [, userId = token, sessionId = ''] = TOKEN.exec(token) ?? [];
  return { userId, sessionId };
}
