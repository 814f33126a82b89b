/** How often to ask a query that it is planned, and then answered with the plan that was kept. */
export const often = 3;
