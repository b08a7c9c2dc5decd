export declare function allFaultPoints(): string[];
