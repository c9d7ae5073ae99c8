module example.com/oracle

go 1.26.4
