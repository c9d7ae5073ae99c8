module example.com/judge

go 1.26.4
